package faultprovider

import (
	"fmt"
	"strconv"
)

// books is the provider's state as the rules see it.
type books struct {
	*table
	p       *Provider
	pending map[string]bool // ids of records that are about to be committed, by collection
}

var _ view = (*books)(nil)

func (b *books) inFlight(scope digest) (flight, bool) {
	f, ok := b.p.flights[scope]
	if !ok {
		return flight{}, false
	}
	return f.flight, true
}

// newID is the next free id for a request. A request that does not say who it is counts by its number.
func (b *books) newID(r *Request, collection, key string) string {
	request := r.ID
	if request == "" {
		request = "#" + strconv.FormatInt(b.p.requests, 10)
	}
	for n := 0; ; n++ {
		id := newID(b.p.seed, collection, key, request, n)
		if !b.pending[collection+"/"+id] && b.find(collection, id) < 0 {
			return id
		}
	}
}

// load reads the ledger.
func (p *Provider) load() error {
	undone := map[int]string{}
	err := p.ledger.Load(func(c Change) error { return p.loadChange(&c, undone) })
	if err != nil {
		return err
	}
	for row, by := range undone {
		if i := p.books.owner(p.books.collections[p.books.row(row).coll], by); i >= 0 {
			p.books.undone[row] = i
		}
	}
	return nil
}

func (p *Provider) loadChange(c *Change, undone map[int]string) error {
	for i := range c.Effects {
		e := &c.Effects[i]
		fp, err := parseFingerprint(e.Fingerprint)
		if err != nil {
			return fmt.Errorf("effect %s/%s: %w", e.Collection, e.ID, err)
		}
		scope, b, err := p.keyOf(e, c.Keys)
		if err != nil {
			return err
		}
		row := p.books.put(e, fp, scope, b)
		if delete(undone, row); e.UndoneBy != "" {
			undone[row] = e.UndoneBy
			p.books.gone[row] = e.Gone
		}
	}
	for i := range c.Keys {
		scope, b, err := p.parseKey(&c.Keys[i])
		if err != nil {
			return err
		}
		p.books.bind(scope, b)
	}
	for _, e := range c.Entries {
		p.log.keep(e)
		p.requests = max(p.requests, e.Request)
	}
	return nil
}

// keyOf finds the key that an effect was committed with, which need not be stored apart from it.
func (p *Provider) keyOf(e *Effect, keys []KeyRecord) (digest, *binding, error) {
	for i := range keys {
		if keys[i].EffectID == e.ID && keys[i].Collection == e.Collection {
			scope, b, err := p.parseKey(&keys[i])
			return scope, &b, err
		}
	}
	return digest{}, nil, nil
}

func (p *Provider) parseKey(k *KeyRecord) (scope digest, b binding, err error) {
	if scope, err = parseDigest(k.Scope); err != nil {
		return scope, b, fmt.Errorf("key %q: %w", k.Key, err)
	}
	b = binding{row: -1, status: k.Status, body: k.Body, locked: k.Locked, first: k.FirstSeen.UnixNano(), completed: k.Completed.UnixNano()}
	if b.print, err = parseFingerprint(k.Fingerprint); err != nil {
		return scope, b, fmt.Errorf("key %q: %w", k.Key, err)
	}
	if k.EffectID != "" {
		b.row = p.books.find(k.Collection, k.EffectID)
	}
	return scope, b, nil
}
