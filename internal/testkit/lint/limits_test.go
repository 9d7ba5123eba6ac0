package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// patience is the least that a test may wait before it calls something hung:
// less is overrun on a slow machine, under the race detector, or in an emulated
// guest, and says nothing that more would not.
const patience = 5 * time.Minute

// stimulus is the most that a time may be which the test wants to pass: the
// deadline whose error it looks at, say.
const stimulus = 100 * time.Millisecond

// A test has time limits to name a hang, for nothing else: so they are patience
// or more. A limit that is neither literal nor patience comes from the product.
func TestTimeLimitsOfTestsAreGenerous(t *testing.T) {
	sources(t, func(path string, src []byte, _ *ast.File) {
		if !strings.HasSuffix(path, "_test.go") && filepath.Dir(path) != "internal/testkit/fabrictest" {
			return
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, src, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range shortLimits(file) {
			t.Errorf("%s:%d: %v is too short for a limit and too long for a stimulus: use patience, at least %v",
				path, fset.Position(l.pos).Line, l.d, patience)
		}
	})
}

type limit struct {
	pos token.Pos
	d   time.Duration
}

// shortLimits finds the time limits of a file that are below patience. What
// runs in a synctest bubble has a clock of its own.
func shortLimits(file *ast.File) (short []limit) {
	check := func(e ast.Expr, least time.Duration) {
		if d, ok := duration(e); ok && d >= least && d < patience {
			short = append(short, limit{e.Pos(), d})
		}
	}
	for _, decl := range file.Decls {
		if mentions(decl, "synctest") {
			continue
		}
		ast.Inspect(decl, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if name.Name == "patience" && i < len(n.Values) {
						check(n.Values[i], 0)
					}
				}
			case *ast.CommClause: // elsewhere time.After is a delay
				if c := received(n.Comm); c != nil && called(c, "time", "After") && len(c.Args) == 1 {
					check(c.Args[0], stimulus)
				}
			case *ast.CallExpr:
				switch {
				case (called(n, "context", "WithTimeout") || called(n, "context", "WithTimeoutCause")) && len(n.Args) > 1:
					check(n.Args[1], stimulus)
				case called(n, "time", "NewTimer") && len(n.Args) == 1:
					check(n.Args[0], stimulus)
				case now(n):
					check(n.Args[0], stimulus)
				}
			case *ast.BasicLit:
				if _, after, ok := strings.Cut(n.Value, "-test.timeout="); n.Kind == token.STRING && ok {
					if d, err := time.ParseDuration(strings.Trim(after, "\"`")); err == nil && d > 0 && d < patience {
						short = append(short, limit{n.Pos(), d})
					}
				}
			}
			return true
		})
	}
	return short
}

// called reports whether a call is one of the package's function.
func called(c *ast.CallExpr, pkg, name string) bool {
	s, ok := c.Fun.(*ast.SelectorExpr)
	return ok && s.Sel.Name == name && mentions(s.X, pkg)
}

// now reports whether a call is time.Now().Add of something.
func now(c *ast.CallExpr) bool {
	s, ok := c.Fun.(*ast.SelectorExpr)
	if !ok || s.Sel.Name != "Add" || len(c.Args) != 1 {
		return false
	}
	base, ok := s.X.(*ast.CallExpr)
	return ok && called(base, "time", "Now")
}

// received is the call that a case of a select receives from.
func received(s ast.Stmt) *ast.CallExpr {
	var e ast.Expr
	switch s := s.(type) {
	case *ast.ExprStmt:
		e = s.X
	case *ast.AssignStmt:
		e = s.Rhs[0]
	}
	u, ok := e.(*ast.UnaryExpr)
	if !ok || u.Op != token.ARROW {
		return nil
	}
	c, _ := u.X.(*ast.CallExpr)
	return c
}

func mentions(n ast.Node, name string) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && id.Name == name
		return !found
	})
	return found
}

var units = map[string]time.Duration{
	"Nanosecond": time.Nanosecond, "Microsecond": time.Microsecond, "Millisecond": time.Millisecond,
	"Second": time.Second, "Minute": time.Minute, "Hour": time.Hour,
}

// duration is the value of an expression of numbers and units of time.
func duration(e ast.Expr) (d time.Duration, ok bool) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return duration(e.X)
	case *ast.BasicLit:
		n, err := strconv.ParseInt(e.Value, 0, 64)
		return time.Duration(n), err == nil
	case *ast.SelectorExpr:
		d, ok = units[e.Sel.Name]
		return d, ok && mentions(e.X, "time")
	case *ast.BinaryExpr:
		x, okx := duration(e.X)
		y, oky := duration(e.Y)
		switch {
		case !okx || !oky:
		case e.Op == token.MUL:
			return x * y, true
		case e.Op == token.ADD:
			return x + y, true
		}
	}
	return 0, false
}

func TestShortLimitsAreSeen(t *testing.T) {
	for _, c := range []struct {
		body  string
		short bool
	}{
		{`const patience = 20 * time.Second`, true},
		{`const patience = 5 * time.Minute`, false},
		{`func f() { context.WithTimeout(ctx, 5*time.Second) }`, true},
		{`func f() { context.WithTimeoutCause(ctx, (1+1)*time.Minute, err) }`, true},
		{`func f() { context.WithTimeout(ctx, 2*patience) }`, false},
		{`func f() { context.WithTimeout(ctx, 50*time.Millisecond) }`, false},
		{`func f() { select { case <-done: case <-time.After(time.Second): } }`, true},
		{`func f() { select { case at := <-time.After(time.Second): } }`, true},
		{`func f() { <-time.After(time.Second) }`, false},
		{`func f() { time.NewTimer(30 * time.Second) }`, true},
		{`func f() { for end := time.Now().Add(time.Minute); ; {} }`, true},
		{`func f() { for end := time.Now().Add(grace + time.Second); ; {} }`, false},
		{`func f() { c.SetReadDeadline(time.Now().Add(time.Second)) }`, true},
		{`func f() { exec.Command(exe, "-test.timeout=4m") }`, true},
		{`func f() { exec.Command(exe, "-test.timeout=0") }`, false},
		{`func f() { synctest.Test(t, func(t *testing.T) { context.WithTimeout(ctx, time.Second) }) }`, false},
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+c.body, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := shortLimits(file); (len(got) > 0) != c.short {
			t.Errorf("%s: found %v", c.body, got)
		}
	}
}
