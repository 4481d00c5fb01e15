-- A change is the JSON of a faultprovider.Change. What a file of version 1 holds is rewritten by ledger_v1.go.
ALTER TABLE changes RENAME TO binary_changes;
CREATE TABLE changes(
	seq  INTEGER PRIMARY KEY,
	data TEXT NOT NULL
) STRICT;
