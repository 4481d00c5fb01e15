package faultprovider

// arena keeps byte strings for ever, without a word of overhead for the garbage collector to look at.
type arena struct{ chunks [][]byte }

// place is where a byte string begins.
type place struct{ chunk, offset uint32 }

// Most providers live for a scenario and keep a few rows, so the first chunks are small.
const firstChunk, arenaChunk = 4 << 10, 256 << 10

// room returns an empty slice that n bytes can be appended to, and where they will be.
func (a *arena) room(n int) ([]byte, place) {
	last := len(a.chunks) - 1
	if last < 0 || cap(a.chunks[last])-len(a.chunks[last]) < n {
		a.chunks = append(a.chunks, make([]byte, 0, max(min(firstChunk<<min(len(a.chunks), 6), arenaChunk), n)))
		last++
	}
	at := len(a.chunks[last])
	return a.chunks[last][at:at:cap(a.chunks[last])], place{uint32(last), uint32(at)}
}

// keep makes what was appended to a room part of the arena.
func (a *arena) keep(b []byte) {
	last := len(a.chunks) - 1
	a.chunks[last] = a.chunks[last][:len(a.chunks[last])+len(b)]
}

// from returns the bytes that begin at a place; the owner knows where they end.
func (a *arena) from(p place) []byte { return a.chunks[p.chunk][p.offset:] }
