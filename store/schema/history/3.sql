-- What one commit brings one run is one row, a line for each fact:
--
--     PLACE KIND TIME JSON
--
-- PLACE is the place in the history, KIND a number of lines.go, TIME nanoseconds since 1970;
-- PLACE and TIME of a row's later lines count from the line before. JSON is what
-- engine.EncodeFact writes. seq is the place of the last line. A run names its last row,
-- and each row the one before it: an index would cost every commit a page more.
ALTER TABLE events RENAME TO each_event;
CREATE TABLE events(
	seq    INTEGER PRIMARY KEY,
	run    INTEGER NOT NULL,
	before INTEGER NOT NULL, -- 0 in the first
	data   TEXT    NOT NULL
) STRICT;
INSERT INTO events
	SELECT seq, run, coalesce(lag(seq) OVER (PARTITION BY run ORDER BY seq), 0), seq || ' ' || kind || ' ' || at || ' ' || data
	FROM each_event ORDER BY seq;
ALTER TABLE runs ADD COLUMN last INTEGER NOT NULL DEFAULT 0;
UPDATE runs SET last = coalesce((SELECT max(seq) FROM each_event WHERE run = num), 0);

-- A run names its document by number. The source is empty where it is not known.
ALTER TABLE documents RENAME TO hashed_documents;
CREATE TABLE documents(
	num    INTEGER PRIMARY KEY,
	hash   TEXT NOT NULL UNIQUE,
	source TEXT NOT NULL
) STRICT;
INSERT INTO documents(hash, source) SELECT hash, source FROM hashed_documents;
INSERT INTO documents(hash, source) SELECT DISTINCT data ->> '$.def', '' FROM each_event
	WHERE kind = 1 AND data ->> '$.def' NOT IN (SELECT hash FROM hashed_documents);
DROP TABLE hashed_documents;
ALTER TABLE runs ADD COLUMN document INTEGER;
UPDATE runs SET document = (SELECT d.num FROM each_event e JOIN documents d ON d.hash = e.data ->> '$.def'
	WHERE e.run = runs.num AND e.kind = 1);

-- A command names the run that it was about.
ALTER TABLE commands RENAME TO placed_commands;
CREATE TABLE commands(
	id  TEXT PRIMARY KEY,
	run INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO commands SELECT c.id, e.run FROM placed_commands c JOIN each_event e USING (seq);
DROP TABLE placed_commands;
DROP TABLE each_event;

-- The index had every run written twice more; recovery reads the list of runs once.
DROP INDEX runs_open;
