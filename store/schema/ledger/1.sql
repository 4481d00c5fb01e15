-- What a provider commits, in the order in which it did: one row a faultprovider.Change; ledger_v1.go tells its form.
CREATE TABLE changes(
	seq  INTEGER PRIMARY KEY,
	data BLOB NOT NULL
) STRICT;
