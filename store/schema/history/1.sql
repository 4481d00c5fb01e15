-- The history, its documents and the list of runs.

-- Each document once, by its hash.
CREATE TABLE documents(
	hash   TEXT PRIMARY KEY,
	source TEXT NOT NULL
) STRICT;

-- One row a run: what engine.Summarize makes of its events. Other tables name a run by num,
-- which also is the order of admission. Times are nanoseconds since 1970.
CREATE TABLE runs(
	num       INTEGER PRIMARY KEY,
	id        TEXT    NOT NULL UNIQUE,
	workflow  TEXT    NOT NULL,
	status    TEXT    NOT NULL,
	open      INTEGER NOT NULL, -- 1 until the run has ended
	reconcile INTEGER NOT NULL,
	admitted  INTEGER NOT NULL,
	ended     INTEGER,
	rerun     TEXT
) STRICT;

-- The facts, as engine.EncodeFact writes them. seq is the place in the history.
CREATE TABLE events(
	seq  INTEGER PRIMARY KEY,
	run  INTEGER NOT NULL,
	kind INTEGER NOT NULL, -- see lines.go
	at   INTEGER NOT NULL,
	data TEXT    NOT NULL
) STRICT;
CREATE INDEX events_run ON events(run);

-- What engine.Body gives, until engine.Settles says that nobody needs it any more.
CREATE TABLE bodies(
	run  INTEGER NOT NULL,
	seq  INTEGER NOT NULL,
	step TEXT    NOT NULL,
	data BLOB    NOT NULL,
	PRIMARY KEY(run, seq)
) STRICT, WITHOUT ROWID;

-- Which run a delivery made. There is no second one.
CREATE TABLE deliveries(
	workflow TEXT    NOT NULL,
	"trigger" TEXT   NOT NULL,
	"key"    TEXT    NOT NULL,
	run      INTEGER NOT NULL,
	digest   TEXT    NOT NULL,
	PRIMARY KEY(workflow, "trigger", "key")
) STRICT, WITHOUT ROWID;

-- Which run a parent's call made. There is no second one.
CREATE TABLE children(
	parent TEXT    NOT NULL,
	step   TEXT    NOT NULL,
	name   TEXT    NOT NULL,
	run    INTEGER NOT NULL,
	PRIMARY KEY(parent, step, name)
) STRICT, WITHOUT ROWID;
