package store

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"faultlab/faultprovider"
)

// What version 1 wrote of changesOfV1.
const (
	wholeV1 = "014e056a6f625f31046a6f627306637265617465046b20c3a90c72756e2f737465702f312f31056a6f625f30056a6f625f3204303066660e" +
		"7b226964223a223cc3a93e227d01aab492b3b7f6da98310101350466666565046b20c3a90430306666056a6f625f31046a6f6273ee07047b0a7d" +
		"0101aab492b3b7f6da983101aadce8ecbef6da983101640201aab492b3b7f6da983106636f6d6d6974060c72756e2f737465702f312f3104504f" +
		"5354092f6a6f62733f783d31046a6f6273046b20c3a9046e6f6e65056a6f625f319203046e6f746509666f72676f7474656e01016104504f5354" +
		"046a6f62730166"
	sparseV1 = "00010e0466666565000000000000000000020f040000000000000000000000000000140600057265706c79000000000000000000000000"
	// A log entry without the fields that were added last: note, cause and scope.
	olderV1 = "0000010c0e00057265706c7900000000"
)

func changesOfV1() []faultprovider.Change {
	at := time.Date(2026, 3, 1, 12, 0, 0, 123456789, time.UTC)
	return []faultprovider.Change{
		{
			Effects: []faultprovider.Effect{{ID: "job_1", Collection: "jobs", Operation: faultprovider.Create, Key: "k é", RequestID: "run/step/1/1",
				Of: "job_0", UndoneBy: "job_2", Fingerprint: "00ff", Body: []byte(`{"id":"<é>"}`), CommittedAt: at, Gone: true}},
			Keys: []faultprovider.KeyRecord{{Scope: "ffee", Key: "k é", Fingerprint: "00ff", EffectID: "job_1", Collection: "jobs", Status: 503,
				Body: []byte("{\n}"), Locked: true, FirstSeen: at, Completed: at.Add(time.Second)}},
			Entries: []faultprovider.Entry{{Seq: 1, At: at, Kind: faultprovider.Commit, Request: 3, RequestID: "run/step/1/1", Method: "POST",
				Path: "/jobs?x=1", Collection: "jobs", Key: "k é", Fault: "none", EffectID: "job_1", Status: 201, Note: "note",
				Cause: faultprovider.KeyForgotten, Scope: &faultprovider.KeyScope{Account: "a", Method: "POST", Route: "jobs", Fields: "f"}}},
		},
		{
			Keys:    []faultprovider.KeyRecord{{Scope: "ffee"}},
			Entries: []faultprovider.Entry{{Seq: 2}, {Seq: 3, Kind: faultprovider.Replied}},
		},
		{Entries: []faultprovider.Entry{{Seq: 7, Kind: faultprovider.Replied}}},
	}
}

func writeLedgerV1(t *testing.T, path string, changes ...string) {
	t.Helper()
	edit(t, path, ledger.migrations[0]+fmt.Sprintf("PRAGMA application_id = %d; PRAGMA user_version = 1; PRAGMA journal_mode = WAL;", ledger.id))
	for n, change := range changes {
		edit(t, path, fmt.Sprintf("INSERT INTO changes VALUES (%d, x'%s')", n+1, change))
	}
}

func TestALedgerOfVersion1IsBroughtUpToDate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "provider.db")
	writeLedgerV1(t, path, wholeV1, sparseV1, olderV1)
	l := openLedger(t, path)
	want := append(changesOfV1(), committed(4))
	l.Append(committed(4))
	if got := loaded(t, l); !reflect.DeepEqual(got, want) {
		t.Errorf("it holds\n%+v\nwant\n%+v", got, want)
	}
	if _, err := os.Stat(path + ".v1"); err != nil {
		t.Errorf("the backup: %v", err)
	}
}

func TestADamagedLedgerOfVersion1StaysAsItIs(t *testing.T) {
	t.Parallel()
	for _, change := range []string{"01ff", "0101", "00010e04666665", "000001ffffffffffffffffff01"} {
		path := filepath.Join(t.TempDir(), "provider.db")
		writeLedgerV1(t, path, sparseV1, change)
		for range 2 {
			_, err := OpenLedger(path, Options{})
			wantProblem(t, err, Damaged, "from version 1 to 2", "change 2")
		}
	}
}
