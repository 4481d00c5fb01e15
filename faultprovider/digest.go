package faultprovider

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"faultlab/engine/plain"
	"faultlab/faultprovider/contract"
	"faultlab/faultprovider/jsondoc"
)

// digest is the first half of a SHA-256: enough to tell keys and payloads apart, half the memory.
type digest [16]byte

func (d digest) zero() bool { return d == digest{} }

// hex is the digest in a ledger; "" for none.
func (d digest) hex() string {
	if d.zero() {
		return ""
	}
	return hex.EncodeToString(d[:])
}

// parseDigest reads what hex wrote.
func parseDigest(s string) (d digest, err error) {
	if hex.DecodedLen(len(s)) > len(d) {
		return d, fmt.Errorf("%q is not a valid digest", s)
	}
	_, err = hex.Decode(d[:], []byte(s))
	return d, err
}

// fingerprint identifies a payload. Half a digest is enough: it is compared under one key only.
type fingerprint [8]byte

func (p fingerprint) hex() string {
	if p == (fingerprint{}) {
		return ""
	}
	return hex.EncodeToString(p[:])
}

func parseFingerprint(s string) (p fingerprint, err error) {
	d, err := parseDigest(s)
	return fingerprint(d[:8]), err
}

func sum(b []byte) digest {
	full := sha256.Sum256(b)
	return digest(full[:16])
}

// field appends one part of a hashed text so that no two lists of parts give the same text.
func field[T string | []byte](dst []byte, part T) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(part)))
	return append(dst, part...)
}

// scoped is the key with all that the contract's scope adds: two requests with the same scoped key mean the same operation.
func scoped(c *Contract, key, account, method, route string, value func(field string) string) digest {
	buf := make([]byte, 0, 256)
	buf = field(buf, key)
	if c.Scope.Account {
		buf = field(append(buf, 'a'), account)
	}
	if c.Scope.Method {
		buf = field(append(buf, 'm'), method)
	}
	if c.Scope.Route {
		buf = field(append(buf, 'r'), route)
	}
	for _, name := range c.Scope.Fields {
		buf = field(append(buf, 'f'), value(name))
	}
	return sum(buf)
}

// scopeOf is what a request's key counts within, part by part.
func scopeOf(c *Contract, r *Request, route string, doc []byte) *KeyScope {
	var s KeyScope
	if c.Scope.Account {
		d := sum([]byte(header(r.Header, "Authorization")))
		s.Account = d.hex()[:8]
	}
	if c.Scope.Method {
		s.Method = r.Method
	}
	if c.Scope.Route {
		s.Route = route
	}
	if len(c.Scope.Fields) > 0 {
		var buf []byte
		for _, name := range c.Scope.Fields {
			value, _ := jsondoc.Get(doc, name)
			buf = field(buf, value)
		}
		d := sum(buf)
		s.Fields = d.hex()[:8]
	}
	if s == (KeyScope{}) {
		return nil
	}
	return &s
}

// fingerprintOf identifies a payload; zero where the contract compares none. doc is the body re-serialized.
func fingerprintOf(c *Contract, body, doc []byte) fingerprint {
	switch c.Fingerprint.By {
	case contract.ByNone:
		return fingerprint{}
	case contract.ByBytes:
		doc = body
	case contract.ByCanonical:
		doc = plain.Canonical(doc)
	case contract.ByFields:
		buf := make([]byte, 0, 256)
		for _, name := range c.Fingerprint.Fields {
			value, _ := jsondoc.Get(doc, name)
			buf = field(buf, plain.Canonical(value))
		}
		doc = buf
	}
	d := sum(doc)
	return fingerprint(d[:8])
}

// newID is the id of a new record: the collection in the singular and 8 hex digits from the seed and the request. n
// counts up while the id is taken.
func newID(seed int64, collection, key, request string, n int) string {
	buf := make([]byte, 0, 256)
	buf = binary.LittleEndian.AppendUint64(buf, uint64(seed))
	buf = field(buf, collection)
	buf = field(buf, key)
	buf = field(buf, request)
	buf = strconv.AppendInt(buf, int64(n), 10)
	d := sum(buf)
	name := recordName(collection)
	out := make([]byte, 0, len(name)+9)
	out = append(append(out, name...), '_')
	return string(hex.AppendEncode(out, d[:4]))
}

// recordName is the name of one record of a collection in ids and in the log: job, entry.
func recordName(collection string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, plain.Singular(strings.ToLower(collection)))
}
