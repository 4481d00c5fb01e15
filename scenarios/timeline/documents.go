package timeline

import (
	"sync"

	"faultlab/engine/woml"
)

// parsed keeps documents that were read, by their text: a scenario is replayed over
// and over, and a document never changes. It is emptied when it is full.
var parsed = struct {
	sync.Mutex
	docs map[string]*woml.Document
}{docs: map[string]*woml.Document{}}

// mostParsed bounds how many documents are kept.
const mostParsed = 256

// Document reads a document, or tells what is wrong with it.
func Document(src []byte) (*woml.Document, []woml.Diagnostic) {
	parsed.Lock()
	d := parsed.docs[string(src)]
	parsed.Unlock()
	if d != nil {
		return d, nil
	}
	d, diags := woml.Parse(src)
	if d == nil {
		return nil, diags
	}
	parsed.Lock()
	defer parsed.Unlock()
	if len(parsed.docs) >= mostParsed {
		clear(parsed.docs)
	}
	parsed.docs[string(src)] = d
	return d, nil
}
