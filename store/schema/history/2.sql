-- Recovery finds the open runs without reading the others.
CREATE INDEX runs_open ON runs(num) WHERE open;

-- The commands of other processes that the history carries out, so that none is carried out twice.
CREATE TABLE commands(
	id  TEXT PRIMARY KEY,
	seq INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT OR IGNORE INTO commands
	SELECT data ->> '$.inbox', seq FROM events WHERE kind IN (1, 11, 13, 14) AND data ->> '$.inbox' <> '';

-- Pruning takes the newest events away; their places are not given again.
CREATE TABLE pruned(
	seq INTEGER NOT NULL -- no place up to this one is free
) STRICT;
