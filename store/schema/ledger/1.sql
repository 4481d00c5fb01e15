-- What a provider commits, in the order in which it did: one row a faultprovider.Change, see package changecode.
CREATE TABLE changes(
	seq  INTEGER PRIMARY KEY,
	data BLOB NOT NULL
) STRICT;
