package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// report counts what became of mutants.
type report struct {
	killed, notCompiled int
	survivors           []trial
}

func (r *report) counted() int { return r.killed + len(r.survivors) }

func (r *report) add(s trial) {
	switch s.verdict {
	case killed:
		r.killed++
	case notCompiled:
		r.notCompiled++
	case survived:
		r.survivors = append(r.survivors, s)
	}
}

// line describes one mutant while more are tried.
func (r *report) line(s trial) string {
	by := ""
	if s.by != "" {
		by = " (" + s.by + ")"
	}
	return fmt.Sprintf("%4d %-12s %s%s", r.counted(), s.verdict, s.mutation, by)
}

// print ends the report with what is needed to repeat it.
func (r *report) print(out io.Writer, o options, took time.Duration) {
	fmt.Fprintf(out, "\n%d of %d mutants killed (%.1f %%) in %s; %d more did not compile\n",
		r.killed, r.counted(), 100*float64(r.killed)/float64(max(1, r.counted())), took.Round(time.Second), r.notCompiled)
	for _, s := range r.survivors {
		fmt.Fprintln(out, "survived:", s.mutation)
	}
	own := ""
	if o.own {
		own = " MUTANTS=-own"
	}
	fmt.Fprintf(out, "again: make mutants N=%d SEED=%d PKG=%s%s\n", o.n, o.seed, strings.Join(o.packages, ","), own)
}
