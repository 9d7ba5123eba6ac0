//go:build bugs

package mpi_test

import "github.com/weft-mpi/weft/internal/planted"

// The tests that find the bugs of typeBugs.
const (
	byRefusal  = "TestAReceiveOfOtherElements"
	byElements = "TestSignaturesAreThoseOfTheElements"
	byLengths  = "TestLengthsAreThoseWithoutSignatures"
	byPieces   = "TestSignaturesComeInPieces"
	byMark     = "TestAMessageWithoutASignature"
)

// typeBugs are the mistakes in the check of types, here and in the engine, that
// TestPlantedBugsOfTypes makes, one at a time.
var typeBugs = planted.List{
	{"other elements are received", "mpi/signed.go",
		"s.bad = s.judge()", "_ = s.judge()", byRefusal},
	{"what is refused is written", "mpi/signed.go",
		"if len(src) > 0 && s.bad == nil {", "if len(src) > 0 {", byRefusal},
	{"the receiver counts elements only", "mpi/signed.go",
		"sent.Matches(s.t.SigPrefix(s.n, sent.Elements)):", "sent.Elements == s.t.SigPrefix(s.n, sent.Elements).Elements:", byElements},
	{"all elements of the receive are compared", "mpi/signed.go",
		"s.t.SigPrefix(s.n, sent.Elements)", "s.t.Sig(s.n)", byElements},
	{"a longer message has other elements", "mpi/signed.go",
		"case length > uint64(s.at.Size()), sent.", "case length > 1<<signMarkAt, sent.", byLengths},
	{"each piece of a signature is its beginning", "mpi/signed.go",
		"copy(dst, s.own[at:])", "copy(dst, s.own[:])", byPieces},
	{"what is behind a signature in one piece is lost", "mpi/signed.go",
		"\t\tdst, at = dst[n:], at+uint64(n)\n", "\t\tdst, at = dst[n:n], at+uint64(n)\n", byPieces},
	{"any message has a signature", "mpi/signed.go",
		"\tcase !marked:\n", "\tcase false && marked:\n", byMark},
	{"a signature is believed of what it does not fit", "mpi/signed.go",
		" || length+signature != n {", " || length > 1<<signMarkAt {", byMark},

	{"the verdict is not asked for", "pt2pt/headed.go",
		"\treturn total - min(total, e.header), r.Size() - e.header, h.Verdict(total)", "\t_ = h\n\treturn total - min(total, e.header), r.Size() - e.header, nil", byRefusal},
	{"probes tell the length with a signature", "pt2pt/headed.go",
		"\treturn total - min(total, e.header)\n}\n\n// verdict", "\treturn total\n}\n\n// verdict", byLengths},
	{"a buffered send needs memory for its signature", "pt2pt/headed.go",
		"return BufferOverhead - int(e.header)", "return BufferOverhead", byLengths},
}

// failureBugs are the mistakes in the calls about ranks that have failed, which
// TestPlantedBugsOfFailures makes.
var failureBugs = planted.List{
	{"what is not acknowledged is no failure", "mpi/errors.go",
		"case errors.As(err, new(*comm.FailedError)), errors.Is(err, comm.ErrNoRemote):", "case errors.Is(err, comm.ErrNoRemote):", "TestTheLivingGoOn"},
	{"a receive that is pending has failed", "mpi/errors.go",
		"case errors.As(err, new(*comm.PendingError)):", "case errors.As(err, new(*comm.PendingError)) && err == nil:", "TestReceivesFromAnySourceArePending"},
	{"an agreement that tells of failures has no result", "mpi/failures.go",
		"\t\treturn out, c.fail(call, err)\n", "\t\treturn 0, c.fail(call, err)\n", "TestTheLivingGoOn"},
	{"a revoked communicator can't be shrunk", "mpi/failures.go",
		"\tk, made := creation{c: c, call: call}, &Comm{}\n\th := c.core.Ishrink(c.ctx, func(core *comm.Comm) { k.finish(made, core) })\n\tif _,", "\tif c.IsRevoked() {\n\t\treturn nil, c.explain(call, 0, 0, false)\n\t}\n\tk, made := creation{c: c, call: call}, &Comm{}\n\th := c.core.Ishrink(c.ctx, func(core *comm.Comm) { k.finish(made, core) })\n\tif _,", "TestRevokeEndsAllThatWaits"},
}
