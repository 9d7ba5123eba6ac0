package oracle

import (
	"bytes"
	"strings"
	"testing"
)

// The logs below are of jobs of three ranks; context 1 and tag 0 are left out.

func send(req, from, to int, data string) Event {
	return Event{Kind: Send, Rank: from, Peer: to, Context: 1, Req: req, Data: []byte(data)}
}

func ssend(req, from, to int, data string) Event {
	e := send(req, from, to, data)
	e.Mode = Synchronous
	return e
}

func ready(req, from, to int, data string) Event {
	e := send(req, from, to, data)
	e.Mode = Ready
	return e
}

func await(req, rank int) Event {
	return Event{Kind: Await, Rank: rank, Peer: AnySource, Context: 1, Req: req}
}

func with(e Event, req int) Event {
	e.With = req + 1
	return e
}

func giveBack(req, rank, peer int) Event {
	return Event{Kind: GiveBack, Rank: rank, Peer: peer, Req: req}
}

func probed(req, rank, from, length int) Event {
	return Event{Kind: ProbeDone, Rank: rank, Req: req, FoundPeer: from, Length: length}
}

func post(req, rank, source, room int) Event {
	return Event{Kind: Post, Rank: rank, Peer: source, Context: 1, Req: req, Room: room}
}

func arrive(from, to int) Event {
	return Event{Kind: Arrive, Rank: to, Peer: from, Context: 1, Whole: true}
}

func announced(from, to int) Event {
	e := arrive(from, to)
	e.Whole = false
	return e
}

func (e Event) tag(t int32) Event      { e.Tag = t; return e }
func (e Event) context(c uint32) Event { e.Context = c; return e }
func (e Event) ends(c Class) Event     { e.Class = c; return e }
func (e Event) length(n int) Event     { e.Length = n; return e }
func sent(req, rank int) Event         { return Event{Kind: SendDone, Rank: rank, Req: req} }
func cancel(req, rank int) Event       { return Event{Kind: Cancel, Rank: rank, Req: req} }
func death(rank int) Event             { return Event{Kind: Death, Rank: rank} }
func down(rank, peer int) Event        { return Event{Kind: Down, Rank: rank, Peer: peer} }
func failed(req, rank int, c Class) Event {
	return Event{Kind: RecvDone, Rank: rank, Peer: AnySource, Tag: AnyTag, Req: req, Class: c}
}

// received fills the rest of the buffer.
func received(req, rank, from int, data string, room int) Event {
	b := append([]byte(data), bytes.Repeat([]byte{Fill}, max(0, room-len(data)))...)
	e := Event{Kind: RecvDone, Rank: rank, Peer: from, Req: req, Length: len(data), Data: b[:room]}
	if len(data) > room {
		e.Class = Truncated
	}
	return e
}

func found(kind Kind, req, rank, source, from, length int) Event {
	return Event{Kind: kind, Rank: rank, Peer: source, Context: 1, Req: req, Found: true, FoundPeer: from, Length: length}
}

func TestLogs(t *testing.T) {
	for _, c := range []struct {
		name string
		log  []Event
		want string // in the error; empty: the log is good
	}{
		{"a message", []Event{send(1, 0, 1, "ab"), sent(1, 0), post(2, 1, 0, 4), arrive(0, 1), received(2, 1, 0, "ab", 4)}, ""},
		{"an unexpected message", []Event{send(1, 0, 1, "ab"), arrive(0, 1), post(2, 1, 0, 4), received(2, 1, 0, "ab", 4), sent(1, 0)}, ""},
		{"nothing", nil, ""},
		{"an empty message", []Event{send(1, 0, 1, ""), arrive(0, 1), post(2, 1, AnySource, 0), received(2, 1, 0, "", 0), sent(1, 0)}, ""},
		{"a message to oneself", []Event{send(1, 0, 0, "a"), post(2, 0, AnySource, 1), received(2, 0, 0, "a", 1), sent(1, 0)}, ""},
		{"a truncated message", []Event{send(1, 0, 1, "abc"), arrive(0, 1), sent(1, 0), post(2, 1, 0, 2), received(2, 1, 0, "abc", 2)}, ""},
		{"a message in pieces", []Event{send(1, 0, 1, "abc"), announced(0, 1), post(2, 1, 0, 3), {Kind: Whole, Rank: 1, Peer: 0},
			received(2, 1, 0, "abc", 3), sent(1, 0)}, ""},

		{"bytes that are wrong", []Event{send(1, 0, 1, "ab"), post(2, 1, 0, 4), arrive(0, 1), received(2, 1, 0, "ax", 4)}, "first at byte 1 of 2"},
		{"a write behind the message", []Event{send(1, 0, 1, "ab"), post(2, 1, 0, 4), arrive(0, 1), received(2, 1, 0, "abc", 4).length(2)}, "byte 2, behind the 2"},
		{"a length that is wrong", []Event{send(1, 0, 1, "ab"), post(2, 1, 0, 4), arrive(0, 1), received(2, 1, 0, "ab", 4).length(3)}, "has 2 bytes"},
		{"a source that is wrong", []Event{send(1, 0, 1, "ab"), post(2, 1, 0, 4), arrive(0, 1), received(2, 1, 2, "ab", 4)}, "message #1 from 0"},
		{"a tag that is wrong", []Event{send(1, 0, 1, "ab"), post(2, 1, 0, 4), arrive(0, 1), received(2, 1, 0, "ab", 4).tag(7)}, "message #1 from 0"},
		{"a truncation that is not told", []Event{send(1, 0, 1, "abc"), arrive(0, 1), post(2, 1, 0, 2), received(2, 1, 0, "abc", 2).ends(OK)}, "the buffer 2"},
		{"a truncation that is none", []Event{send(1, 0, 1, "ab"), arrive(0, 1), post(2, 1, 0, 2), received(2, 1, 0, "ab", 2).ends(Truncated)}, "the buffer 2"},
		{"a truncated send", []Event{send(1, 0, 1, "ab"), sent(1, 0).ends(Truncated)}, "never truncated"},

		{"messages of one sender in another order", []Event{send(1, 0, 1, "a").tag(1), send(2, 0, 1, "b").tag(2), arrive(0, 1).tag(2)}, "overtaken #1"},
		{"messages of two contexts in another order", []Event{send(1, 0, 1, "a").context(1), send(2, 0, 1, "b").context(2), arrive(0, 1).context(2),
			arrive(0, 1).context(1), post(3, 1, 0, 1).context(1), received(3, 1, 0, "a", 1), post(4, 1, 0, 1).context(2), received(4, 1, 0, "b", 1), sent(1, 0), sent(2, 0)}, ""},
		{"messages that have overtaken one another unseen", []Event{send(1, 0, 1, "a"), send(2, 0, 1, "b"), arrive(0, 1), post(3, 1, 0, 1), received(3, 1, 0, "b", 1)}, "not those of message #1"},
		{"a message that nobody sent", []Event{arrive(0, 1)}, "nobody sent it"},
		{"a message that arrives twice", []Event{send(1, 0, 1, "a"), arrive(0, 1), arrive(0, 1)}, "nobody sent it"},
		{"a later receive served first", []Event{post(1, 1, AnySource, 1), post(2, 1, 0, 1), send(3, 0, 1, "a"), arrive(0, 1), received(2, 1, 0, "a", 1)}, "no message can have matched it"},
		{"a wildcard served before an earlier receive", []Event{post(1, 1, 0, 1), post(2, 1, AnySource, 1), send(3, 0, 1, "a"), arrive(0, 1), received(2, 1, 0, "a", 1)}, "no message can have matched it"},
		{"a receive with a later message", []Event{send(1, 0, 1, "a"), send(2, 2, 1, "b"), arrive(2, 1), arrive(0, 1), post(3, 1, AnySource, 1), received(3, 1, 0, "a", 1)}, "message #2 from 2"},
		{"a receive of another context", []Event{send(1, 0, 1, "a"), arrive(0, 1), post(2, 1, AnySource, 1).context(2), received(2, 1, 0, "a", 1)}, "no message can have matched it"},
		{"a receive of another tag", []Event{send(1, 0, 1, "a"), arrive(0, 1), post(2, 1, AnySource, 1).tag(2), received(2, 1, 0, "a", 1)}, "no message can have matched it"},

		{"a receive that ends twice", []Event{send(1, 0, 1, "a"), arrive(0, 1), post(2, 1, 0, 1), received(2, 1, 0, "a", 1), received(2, 1, 0, "a", 1)}, "ended before"},
		{"a send that ends twice", []Event{send(1, 0, 1, "a"), sent(1, 0), sent(1, 0)}, "ended before"},
		{"an end of nothing", []Event{sent(1, 0)}, "no such request"},
		{"an end at another rank", []Event{send(1, 0, 1, "a"), sent(1, 2)}, "rank 0's"},
		{"a receive that ends as a send", []Event{post(1, 0, 1, 1), sent(1, 0)}, "no such request"},
		{"a name that is used twice", []Event{send(1, 0, 1, "a"), post(1, 1, 0, 1)}, "exists"},
		{"an error for no reason", []Event{send(1, 0, 1, "a"), sent(1, 0).ends(Other)}, "no reason"},

		{"a synchronous send", []Event{ssend(1, 0, 1, "a"), arrive(0, 1), post(2, 1, 0, 1), sent(1, 0), received(2, 1, 0, "a", 1)}, ""},
		{"a synchronous send that does not wait", []Event{ssend(1, 0, 1, "a"), arrive(0, 1), sent(1, 0)}, "has not been started"},
		{"a synchronous send that a probe ends", []Event{ssend(1, 0, 1, "a"), arrive(0, 1), found(Claim, 2, 1, 0, 0, 1), sent(1, 0)}, "has not been started"},

		{"a cancelled receive", []Event{post(1, 1, 0, 1), cancel(1, 1), failed(1, 1, Cancelled)}, ""},
		{"a receive that nobody cancelled", []Event{post(1, 1, 0, 1), failed(1, 1, Cancelled)}, "nobody asked"},
		{"a cancelled receive whose status is another's", []Event{post(1, 1, 0, 1), cancel(1, 1), failed(1, 1, Cancelled).length(4)}, "status tells of a message"},
		{"a probe that does not tell of a death", []Event{death(0), down(1, 0), found(Probe, 0, 1, 0, 0, 0).none()}, "does not say so"},
		{"a matched receive that is cancelled", []Event{post(1, 1, 0, 1), send(2, 0, 1, "a"), arrive(0, 1), cancel(1, 1), failed(1, 1, Cancelled)}, "had matched it"},
		{"a cancelled receive that takes a message", []Event{post(1, 1, 0, 1), cancel(1, 1), failed(1, 1, Cancelled), post(2, 1, AnySource, 1), send(3, 0, 1, "a"), arrive(0, 1),
			received(2, 1, 0, "a", 1), sent(3, 0)}, ""},
		{"a send that is given back", []Event{send(1, 0, 1, "a"), announced(0, 1), cancel(1, 0), giveBack(1, 1, 0), sent(1, 0).ends(Cancelled)}, ""},
		{"a send that is given back and received", []Event{send(1, 0, 1, "a"), announced(0, 1), cancel(1, 0), giveBack(1, 1, 0), post(2, 1, 0, 1), received(2, 1, 0, "a", 1)}, "no message can"},
		{"a send that is given back and ends well", []Event{send(1, 0, 1, "a"), announced(0, 1), cancel(1, 0), giveBack(1, 1, 0), sent(1, 0)}, "was given back"},
		{"a send that is given back and does not end", []Event{send(1, 0, 1, "a"), announced(0, 1), cancel(1, 0), giveBack(1, 1, 0)}, "was cancelled and does not end"},
		{"a send that is given back unasked", []Event{send(1, 0, 1, "a"), announced(0, 1), giveBack(1, 1, 0)}, "nobody wants to cancel it"},
		{"an arrived send that is cancelled and not given back", []Event{send(1, 0, 1, "a"), announced(0, 1), cancel(1, 0), sent(1, 0).ends(Cancelled)}, "not given back"},
		{"a claimed send that is cancelled", []Event{send(1, 0, 1, "a"), announced(0, 1), cancel(1, 0), found(Claim, 2, 1, AnySource, 0, 1), sent(1, 0).ends(Cancelled)}, "to a matched probe"},
		{"a ready send that is late", []Event{ready(1, 0, 1, "a"), announced(0, 1), post(2, 1, 0, 1), received(2, 1, 0, "a", 1), sent(1, 0).ends(NotReady)}, ""},
		{"a ready send that is taken for late", []Event{ready(1, 0, 1, "a"), post(2, 1, 0, 1), announced(0, 1), received(2, 1, 0, "a", 1), sent(1, 0).ends(NotReady)}, "was posted"},
		{"a standard send without a buffer", []Event{send(1, 0, 1, "a"), sent(1, 0).ends(NoBuffer)}, "no buffer"},
		{"a probe that waits", []Event{await(9, 1), send(1, 0, 1, "ab"), arrive(0, 1), probed(9, 1, 0, 2), post(2, 1, 0, 2), received(2, 1, 0, "ab", 2), sent(1, 0)}, ""},
		{"a probe that waits and tells another length", []Event{await(9, 1), send(1, 0, 1, "ab"), arrive(0, 1), probed(9, 1, 0, 3)}, "length 2"},
		{"a probe of what a receive has taken", []Event{await(9, 1), post(2, 1, 0, 2), send(1, 0, 1, "ab"), arrive(0, 1), probed(9, 1, 0, 2)}, "no message can have come"},
		{"a probe that does not wake", []Event{await(9, 1), send(1, 0, 1, "ab"), arrive(0, 1), sent(1, 0)}, "does not end"},
		{"a cancelled send", []Event{send(1, 0, 1, "a"), cancel(1, 0), sent(1, 0).ends(Cancelled), send(2, 0, 1, "b"), arrive(0, 1), post(3, 1, 0, 1), received(3, 1, 0, "b", 1), sent(2, 0)}, ""},
		{"a cancelled send that arrives", []Event{send(1, 0, 1, "a"), cancel(1, 0), sent(1, 0).ends(Cancelled), arrive(0, 1)}, "nobody sent it"},
		{"a matched send that is cancelled", []Event{send(1, 0, 1, "a"), cancel(1, 0), post(2, 1, 0, 1), arrive(0, 1), sent(1, 0).ends(Cancelled)}, "went to receive #2"},
		{"a cancel of nothing", []Event{cancel(1, 0)}, "no such request"},

		{"probes", []Event{found(Probe, 0, 1, AnySource, 0, 0).none(), send(1, 0, 1, "ab"), arrive(0, 1), found(Probe, 0, 1, AnySource, 0, 2), post(2, 1, 0, 2), received(2, 1, 0, "ab", 2), sent(1, 0)}, ""},
		{"a probe that finds nothing", []Event{send(1, 0, 1, "ab"), arrive(0, 1), found(Probe, 0, 1, AnySource, 0, 0).none()}, "should answer true"},
		{"a probe that finds what is not there", []Event{found(Probe, 0, 1, AnySource, 0, 2)}, "should answer false"},
		{"a probe that finds the second", []Event{send(1, 0, 1, "ab"), send(2, 0, 1, "a"), arrive(0, 1), arrive(0, 1), found(Probe, 0, 1, AnySource, 0, 1)}, "should find #1"},
		{"a matched probe", []Event{send(1, 0, 1, "ab"), send(2, 0, 1, "c"), arrive(0, 1), arrive(0, 1), found(Claim, 3, 1, AnySource, 0, 2), post(4, 1, 0, 1), received(4, 1, 0, "c", 1),
			{Kind: Receive, Rank: 1, Peer: 3, Req: 5, Room: 2}, received(5, 1, 0, "ab", 2), sent(1, 0), sent(2, 0)}, ""},
		{"a claimed message that another receives", []Event{send(1, 0, 1, "ab"), arrive(0, 1), found(Claim, 3, 1, AnySource, 0, 2), post(4, 1, 0, 2), received(4, 1, 0, "ab", 2)}, "no message can"},
		{"a message received that nobody claimed", []Event{{Kind: Receive, Rank: 1, Peer: 3, Req: 5}}, "was claimed"},

		{"a transfer that fails", []Event{send(1, 0, 1, "a"), announced(0, 1), post(2, 1, 0, 1), {Kind: Fault, Rank: 1, Peer: 0}, received(2, 1, 0, "a", 1).ends(Failed), sent(1, 0).ends(Failed)}, ""},
		{"a transfer that fails, and the sender is first", []Event{send(1, 0, 1, "a"), announced(0, 1), post(2, 1, 0, 1), {Kind: Fault, Rank: 1, Peer: 0}, sent(1, 0).ends(Failed), received(2, 1, 0, "a", 1).ends(Failed)}, ""},
		{"a failure of no transfer", []Event{send(1, 0, 1, "a"), announced(0, 1), post(2, 1, 0, 1), received(2, 1, 0, "a", 1).ends(Failed)}, "no transfer has failed"},
		{"a failure that the sender does not see", []Event{send(1, 0, 1, "a"), announced(0, 1), post(2, 1, 0, 1), {Kind: Fault, Rank: 1, Peer: 0}, received(2, 1, 0, "a", 1).ends(Failed), sent(1, 0)}, "has failed"},

		{"a death", []Event{post(1, 1, 0, 1), send(2, 1, 0, "a"), death(0), down(1, 0), failed(1, 1, PeerDown), sent(2, 1).ends(PeerDown), down(2, 0)}, ""},
		{"a whole message of the dead", []Event{send(1, 0, 1, "a"), death(0), arrive(0, 1), down(1, 0), post(2, 1, 0, 1), received(2, 1, 0, "a", 1), down(2, 0)}, ""},
		{"an announcement of the dead", []Event{send(1, 0, 1, "a"), announced(0, 1), death(0), down(1, 0), post(2, 1, 0, 1), failed(2, 1, PeerDown)}, ""},
		{"a message of the dead that comes too late", []Event{send(1, 0, 1, "a"), death(0), down(1, 0), arrive(0, 1)}, "known to be dead"},
		{"a wildcard when the last dies", []Event{post(1, 1, AnySource, 1), death(0), down(1, 0), death(2), down(1, 2), failed(1, 1, PeerDown)}, ""},
		{"a wildcard that comes when the last is dead", []Event{death(0), down(1, 0), death(2), down(1, 2), post(1, 1, AnySource, 1), failed(1, 1, PeerDown)}, ""},
		{"a wildcard that one death ends", []Event{post(1, 1, AnySource, 1), death(0), down(1, 0), failed(1, 1, PeerDown)}, "can still come"},
		{"a receive from the living that a death ends", []Event{post(1, 1, 2, 1), death(0), down(1, 0), failed(1, 1, PeerDown)}, "can still come"},
		{"a whole message that a death takes", []Event{send(1, 0, 1, "a"), arrive(0, 1), post(2, 1, 0, 1), death(0), down(1, 0), failed(2, 1, PeerDown)}, "can still come"},
		{"a send to the living that a death ends", []Event{send(1, 1, 2, "a"), death(0), down(1, 0), sent(1, 1).ends(PeerDown)}, "does not know of a death"},
		{"a death that is told twice", []Event{death(0), down(1, 0), down(1, 0)}, "told before"},
		{"a death of the living", []Event{down(1, 0)}, "is alive"},
		{"an act of the dead", []Event{death(0), send(1, 0, 1, "a")}, "the rank is dead"},

		{"rest with a receive whose message is here", []Event{send(1, 0, 1, "a"), arrive(0, 1), post(2, 1, 0, 1), sent(1, 0)}, "has matched message #1"},
		{"rest with a message that is not sent", []Event{send(1, 0, 1, "a"), post(2, 1, 0, 1), sent(1, 0)}, "send #1 of rank 0, to 1, context 1, tag 0, or a copy"},
		{"rest with a send that is not sent", []Event{send(1, 0, 1, "a")}, "has not been sent"},
		{"rest with a send that was received", []Event{send(1, 0, 1, "a"), announced(0, 1), post(2, 1, 0, 1), received(2, 1, 0, "a", 1)}, "was received by #2"},
		{"rest with a send that has arrived", []Event{send(1, 0, 1, "a"), arrive(0, 1)}, "has arrived and does not end"},
		{"rest with a receive that was cancelled", []Event{post(1, 1, 0, 1), cancel(1, 1)}, "was cancelled"},
		{"rest with a receive from the dead", []Event{post(1, 1, 0, 1), death(0), down(1, 0)}, "waits for the dead"},
		{"rest with a pair of which one part has ended", []Event{post(1, 0, 1, 1), with(send(2, 0, 1, "a"), 1), announced(0, 1), send(3, 1, 0, "b"), arrive(1, 0), sent(3, 1)}, "at the end"},
		{"rest with a pair of which both parts have ended", []Event{post(1, 0, 1, 1), with(send(2, 0, 1, "a"), 1), arrive(0, 1), send(3, 1, 0, "b"), arrive(1, 0), sent(3, 1)}, "at rest: receive #1"},
		{"a request that was given up", []Event{send(1, 0, 1, "a"), {Kind: Release, Rank: 0, Req: 1}, arrive(0, 1), post(2, 1, 0, 1), received(2, 1, 0, "a", 1)}, ""},
		{"a request that was given up and ends", []Event{send(1, 0, 1, "a"), {Kind: Release, Rank: 0, Req: 1}, sent(1, 0)}, "ended before"},
		{"an end with a posted receive", []Event{post(1, 1, 0, 1)}, "at the end: receive #1"},
		{"an end with an unexpected message", []Event{send(1, 0, 1, "a"), arrive(0, 1), sent(1, 0)}, "was not received"},
		{"an end with something left", []Event{{Kind: Left, Rank: 1, What: "credits", Length: 3}}, "3 credits left"},
		{"an end with nothing left", []Event{{Kind: Left, Rank: 1, What: "credits"}}, ""},
	} {
		err := Check(3, c.log)
		switch {
		case err == nil && c.want != "":
			t.Errorf("%s: no error, want %q", c.name, c.want)
		case err != nil && c.want == "":
			t.Errorf("%s: %v", c.name, err)
		case err != nil && !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func (e Event) none() Event {
	e.Found, e.FoundPeer, e.FoundTag, e.Length = false, 0, 0, 0
	return e
}

func TestASenderMayBeHeldBackWhileItsPeerIsFull(t *testing.T) {
	c := New(2)
	c.Most = 1
	add := func(e Event) {
		if err := c.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	add(send(1, 0, 1, "a"))
	add(send(2, 0, 1, "b"))
	add(arrive(0, 1))
	add(sent(1, 0))
	if err := c.Rest(); err != nil {
		t.Error(err)
	}
	add(post(3, 1, 0, 1))
	add(received(3, 1, 0, "a", 1))
	if err := c.Rest(); err == nil {
		t.Error("a message is held back from a rank that holds none, and the oracle is content")
	}
}

func TestTheModelTellsWhatIsLeft(t *testing.T) {
	c := New(2)
	for _, e := range []Event{send(1, 0, 1, "abc"), arrive(0, 1), post(2, 1, AnySource, 5).tag(9)} {
		if err := c.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	if u := c.Unexpected(1); len(u) != 1 || u[0] != (Envelope{Peer: 0, Context: 1, Bytes: 3, Whole: true}) {
		t.Errorf("unexpected: %+v", u)
	}
	if p := c.Posted(1); len(p) != 1 || p[0] != (Envelope{Peer: AnySource, Context: 1, Tag: 9, Bytes: 5}) {
		t.Errorf("posted: %+v", p)
	}
	if c.Alone(1) || !c.Lives(0) {
		t.Error("rank 0 is taken for dead")
	}
}
