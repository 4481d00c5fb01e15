package script

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/dop251/goja"
)

// The streams of a seed. What one of them gives does not depend on how often the other was asked.
const (
	streamMath   = 1 // Math.random
	streamCrypto = 2 // crypto
)

func source(seed int64, stream uint64) *rand.PCG { return rand.NewPCG(uint64(seed), stream) }

// seeded is a Math.random of the seed, set up when first called.
func seeded(seed int64, stream uint64) func() float64 {
	var r *rand.Rand
	return func() float64 {
		if r == nil {
			r = rand.New(source(seed, stream))
		}
		return r.Float64()
	}
}

// crypto has what scripts make ids of. It is random to the script and repeatable to us; it keeps no secrets.
func (rl *realm) crypto() goja.Value {
	rl.random = rand.New(source(rl.in.Seed, streamCrypto))
	uuid := rl.function("randomUUID", func(goja.FunctionCall) goja.Value {
		var id [16]byte
		rl.fill(id[:])
		id[6] = id[6]&0x0f | 0x40 // version 4
		id[8] = id[8]&0x3f | 0x80 // variant of RFC 9562
		return rl.vm.ToValue(fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:]))
	})
	values := rl.function("getRandomValues", func(c goja.FunctionCall) goja.Value {
		if view, ok := c.Argument(0).(*goja.Object); ok && view.ExportType() != bufferType {
			if data, ok := bytesOf(view); ok {
				rl.fill(data)
				return view
			}
		}
		panic(rl.vm.NewTypeError("crypto.getRandomValues takes a typed array"))
	})
	return rl.object("randomUUID", uuid, "getRandomValues", values)
}

func (rl *realm) fill(b []byte) {
	var word [8]byte
	for len(b) > 0 {
		binary.LittleEndian.PutUint64(word[:], rl.random.Uint64())
		b = b[copy(b, word[:]):]
	}
}
