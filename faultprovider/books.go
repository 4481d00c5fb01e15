package faultprovider

import "strconv"

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
	err := p.ledger.Load(func(c Change) error {
		for i := range c.Effects {
			p.loadEffect(&c.Effects[i], undone)
		}
		for i := range c.Keys {
			p.loadKey(&c.Keys[i])
		}
		for _, e := range c.Entries {
			p.log.keep(e)
			p.requests = max(p.requests, e.Request)
		}
		return nil
	})
	for row, by := range undone {
		if i := p.books.owner(p.books.collections[p.books.row(row).coll], by); i >= 0 {
			p.books.undo(row, i, false)
		}
	}
	return err
}

func (p *Provider) loadEffect(e *Effect, undone map[int]string) {
	print, _ := parseDigest(e.Fingerprint)
	row := p.books.put(e, print)
	delete(undone, row)
	if e.UndoneBy != "" {
		undone[row] = e.UndoneBy
	}
}

func (p *Provider) loadKey(k *KeyRecord) {
	scope, _ := parseDigest(k.Scope)
	print, _ := parseDigest(k.Fingerprint)
	row := -1
	if k.EffectID != "" {
		row = p.books.find(k.Collection, k.EffectID)
	}
	p.books.bind(scope, binding{
		row: row, print: print, status: k.Status, body: k.Body, locked: k.Locked,
		first: k.FirstSeen.UnixNano(), completed: k.Completed.UnixNano(),
	})
}
