package contract

import (
	"encoding/json"
	"time"
)

// file is the JSON of a contract file.
type file struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Note        string          `json:"note,omitempty"`
	Assumptions []string        `json:"assumptions,omitempty"`
	Carrier     fileCarrier     `json:"carrier"`
	Missing     fileRefusal     `json:"missing"`
	Key         fileKey         `json:"key"`
	Scope       []string        `json:"scope"`
	Fingerprint fileFingerprint `json:"fingerprint"`
	Mismatch    fileRefusal     `json:"mismatch"`
	Retention   fileRetention   `json:"retention"`
	Store       []string        `json:"store"`
	AfterError  AfterError      `json:"afterError"`
	Replay      fileReplay      `json:"replay"`
	InFlight    fileInFlight    `json:"inFlight"`
	LookUp      fileLookUp      `json:"lookUp"`
	Hints       fileHints       `json:"hints"`
}

type fileCarrier struct {
	In        Place  `json:"in"`
	Name      string `json:"name"`
	FirstSent string `json:"firstSent"`
}

type fileRefusal struct {
	Do     Action `json:"do"`
	Status int    `json:"status,omitempty"`
	Error  string `json:"error"`
}

type fileKey struct {
	Syntax    Syntax   `json:"syntax"`
	MaxLength int      `json:"maxLength"`
	Charset   Charset  `json:"charset"`
	Overlong  Overlong `json:"overlong"`
	Status    int      `json:"status,omitempty"`
	Error     string   `json:"error,omitempty"`
}

type fileFingerprint struct {
	By     By       `json:"by"`
	Fields []string `json:"fields,omitempty"`
}

type fileRetention struct {
	For         string            `json:"for"`
	From        From              `json:"from"`
	Expired     Expired           `json:"expired"`
	Collections map[string]string `json:"collections,omitempty"`
}

type fileReplay struct {
	Do     ReplayAction `json:"do"`
	Status int          `json:"status"`
	Marker string       `json:"marker"`
}

type fileInFlight struct {
	fileRefusal
	RetryAfter string `json:"retryAfter"`
	Lease      string `json:"lease"`
}

type fileLookUp struct {
	By       LookUpBy    `json:"by"`
	Filter   string      `json:"filter"`
	Lag      string      `json:"lag"`
	InFlight fileRefusal `json:"inFlight"`
}

type fileHints struct {
	RetryAfter  string `json:"retryAfter"`
	ShouldRetry string `json:"shouldRetry"`
}

// MarshalJSON writes a contract file that says every knob, so that Parse makes the same contract of it.
func (c Contract) MarshalJSON() ([]byte, error) {
	f := file{
		Name: c.Name, Title: c.Title, Note: c.Note, Assumptions: c.Assumptions,
		Carrier:     fileCarrier(c.Carrier),
		Missing:     fileRefusal(c.Missing),
		Key:         fileKey(c.Key),
		Scope:       scopeList(c.Scope),
		Fingerprint: fileFingerprint(c.Fingerprint),
		Mismatch:    fileRefusal(c.Mismatch),
		Retention:   fileRetention{For: c.Retention.For.String(), From: c.Retention.From, Expired: c.Retention.Expired},
		Store:       append([]string{}, c.Store...),
		AfterError:  c.AfterError,
		Replay:      fileReplay(c.Replay),
		InFlight:    fileInFlight{fileRefusal(c.InFlight.Refusal), c.InFlight.RetryAfter.String(), c.InFlight.Lease.String()},
		LookUp:      fileLookUp{c.LookUp.By, c.LookUp.Filter, c.LookUp.Lag.String(), fileRefusal(c.LookUp.InFlight)},
		Hints:       fileHints{c.Hints.RetryAfter.String(), c.Hints.ShouldRetry},
	}
	for collection, d := range c.Retention.Collections {
		if f.Retention.Collections == nil {
			f.Retention.Collections = map[string]string{}
		}
		f.Retention.Collections[collection] = d.String()
	}
	return json.Marshal(f)
}

// UnmarshalJSON is Parse.
func (c *Contract) UnmarshalJSON(text []byte) error {
	parsed, err := Parse(text)
	if err != nil {
		return err
	}
	*c = parsed
	return nil
}

func scopeList(s Scope) []string {
	out := []string{}
	for _, part := range []struct {
		name string
		is   bool
	}{{"account", s.Account}, {"method", s.Method}, {"route", s.Route}} {
		if part.is {
			out = append(out, part.name)
		}
	}
	for _, field := range s.Fields {
		out = append(out, "field:"+field)
	}
	return out
}

// RetentionOf is how long a key of a collection is known; 0 is for ever.
func (c Contract) RetentionOf(collection string) time.Duration {
	if d, ok := c.Retention.Collections[collection]; ok {
		return d
	}
	return c.Retention.For
}
