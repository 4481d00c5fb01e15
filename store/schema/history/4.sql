-- The runs that sent a request under a key which other runs may send too: evidence
-- about one of them is as old as the requests of all. A key that an attempt derived for
-- itself is not here.
CREATE TABLE keys(
	key TEXT    NOT NULL,
	run INTEGER NOT NULL,
	PRIMARY KEY (key, run)
) STRICT, WITHOUT ROWID;
WITH RECURSIVE line(run, text, rest) AS (
	SELECT run, '', data || char(10) FROM events
	UNION ALL
	SELECT run, substr(rest, 1, instr(rest, char(10)) - 1), substr(rest, instr(rest, char(10)) + 1) FROM line WHERE rest <> ''
), sent(run, key) AS (
	SELECT run, substr(text, instr(text, '{')) ->> '$.key' FROM line WHERE substr(text, instr(text, ' ') + 1) LIKE '5 %'
)
INSERT OR IGNORE INTO keys SELECT key, run FROM sent WHERE key IS NOT NULL AND NOT (key LIKE 'sha256:%' AND length(key) = 71);

-- The addresses at which a look-up has found a record.
CREATE TABLE addresses(address TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
