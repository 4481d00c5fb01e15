// Package faultprovider is an HTTP provider that misbehaves on purpose, for clients that want to know whether their
// retries are safe. It keeps the idempotency rules of a real API (package contract), and does wrong what it is told to
// do wrong (package fault).
//
// # How it works
//
// A pure core decides what happens to one request (decide: a match by the contract and the ledger, then a plan in
// time): the effect commits at one moment or never, the caller gets something at another. The two are independent; a
// commit can come long after its caller gave up. Two shells play the plan: Handler on real sockets, Transport without.
// Both share everything but the delivery of bytes, and one suite demands the same answers, log and ledger of both.
//
// # What it promises
//
//   - What the log says is committed is in the ledger, and with a Ledger nothing is answered that is not durable.
//   - Under a contract that enforces keys, two requests under one key at the same moment make one effect.
//   - Given a seed, ids and draws repeat; on a virtual clock, everything does.
//
// It never looks at the machine's clock, never starts a goroutine of its own (the clock does), and never repeats or
// hides a request.
//
// # The wire
//
// POST /{collection} makes a record, PUT /{collection}/{id} makes or replaces one, DELETE removes one; GET
// /{collection}/{id} reads it, GET /{collection}/by-idempotency-key/{key} or a list looks an operation up, as the contract
// says. A collection is any path: /jobs, /v1/charges. POST /jobs answers and keeps id and orderId as the reference
// fixture does, everything else keeps the whole body. A refund or a cancellation names the effect that it undoes by its id,
// in the path or in a field, and the ledger pairs the two. Under /_test/ are the controls: faults, jobs, log, contract,
// clock, reset, state. They have no password, so serve them on the loopback interface only (Loopback).
//
// # How to add a fault
//
// A fault is three axes: when the effect commits, what the caller gets, which requests it takes. If these can say it
// already, it is one row in fault/names.go:
//
//	alias("slow", "Stores the record, and answers 5 s later.", before, Reply{Do: Normal, Slow: 5 * time.Second}, fresh),
//
// and its row in TestNamedFaults: what the caller gets, when, the jobs then and a minute later, what a repeat gets.
// TestTwoShellsOneTruth takes every named fault by itself, under every preset, through both shells.
//
// If the caller gets something new, add a Kind to fault/fault.go, and to shapes.go a function that says what becomes of the
// answer, with its row; both shells deliver it from that:
//
//	func shapeTeapot(p *reply, _ *fault.Reply) { p.whole(http.StatusTeapot, errorBody("teapot", "")) }
//
// Then it has a row in TestShapes.
//
// A contract is added likewise: its rules in contract/presets.json, a row in TestContracts.
package faultprovider
