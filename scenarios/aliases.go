package scenarios

import "faultlab/scenarios/timeline"

// What stands on a bench's timeline, for those who know the bench.
type (
	Timeline   = timeline.Timeline
	View       = timeline.View
	Entry      = timeline.Entry
	Note       = timeline.Note
	Setting    = timeline.Setting
	Delivery   = timeline.Delivery
	Reply      = timeline.Reply
	Operation  = timeline.Operation
	Option     = timeline.Option
	Counts     = timeline.Counts
	Row        = timeline.Row
	RowKind    = timeline.RowKind
	Tone       = timeline.Tone
	KeyMark    = timeline.KeyMark
	RunVerdict = timeline.RunVerdict
)

const (
	RowRun      = timeline.RowRun
	RowAttempt  = timeline.RowAttempt
	RowSend     = timeline.RowSend
	RowCommit   = timeline.RowCommit
	RowReplay   = timeline.RowReplay
	RowRefused  = timeline.RowRefused
	RowReply    = timeline.RowReply
	RowBroken   = timeline.RowBroken
	RowSilence  = timeline.RowSilence
	RowNotSent  = timeline.RowNotSent
	RowOutcome  = timeline.RowOutcome
	RowWait     = timeline.RowWait
	RowCall     = timeline.RowCall
	RowEvidence = timeline.RowEvidence
	RowDecision = timeline.RowDecision
	RowInbound  = timeline.RowInbound
	RowNote     = timeline.RowNote

	TonePlain   = timeline.TonePlain
	ToneQuiet   = timeline.ToneQuiet
	ToneGood    = timeline.ToneGood
	ToneBad     = timeline.ToneBad
	ToneUnknown = timeline.ToneUnknown
	ToneWire    = timeline.ToneWire
	ToneTruth   = timeline.ToneTruth

	KeySame    = timeline.KeySame
	KeyNew     = timeline.KeyNew
	KeyMissing = timeline.KeyMissing

	NoteConsole = timeline.NoteConsole
)

var (
	WireText     = timeline.WireText
	ArrivalsText = timeline.ArrivalsText
	FromHistory  = timeline.FromHistory
)
