package phrase_test

import (
	"math"
	"testing"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

type id string

func TestPhrases(t *testing.T) {
	for want, got := range map[string]string{
		"1 process group":           phrase.Count(1, "process group"),
		"3 process groups":          phrase.Count(3, "process group"),
		"0 copies":                  phrase.Count(0, "copy"),
		"2 processes":               phrase.Count(int64(2), "process"),
		"2 days":                    phrase.Count(2, "day"),
		"2 of 3 coordinators":       phrase.CountOf(2, 3, "coordinator"),
		"0 of 1 coordinator":        phrase.CountOf(0, 1, "coordinator"),
		"1 of 3 answers":            "1 of 3 " + phrase.EitherOf(1, 3, "answers", "answer"),
		"0 of 3 answer":             "0 of 3 " + phrase.EitherOf(0, 3, "answers", "answer"),
		"0 of 1 answers":            "0 of 1 " + phrase.EitherOf(0, 1, "answers", "answer"),
		"is":                        phrase.Is(1),
		"are":                       phrase.Is(0),
		"has":                       phrase.Has(1),
		"a, b":                      phrase.List([]id{"a", "b"}),
		"c, d":                      phrase.Some([]id{"c", "d"}, 2),
		"a, b and 2 more":           phrase.Some([]id{"a", "b", "c", "d"}, 2),
		"a; b; and 1 more":          phrase.SomeBy([]string{"a", "b", "c"}, 2, "; "),
		"unknown":                   phrase.Or("", phrase.Unknown),
		"text":                      phrase.Or("text", phrase.Nothing),
		"yes":                       phrase.YesNo(new(true), "?"),
		"no":                        phrase.YesNo(new(false), "?"),
		"? for a bool":              phrase.YesNo(nil, "?") + " for a bool",
		"7":                         phrase.NumberOr(new(7), "?"),
		"? for a number":            phrase.NumberOr(nil, "?") + " for a number",
		"1023B":                     phrase.Bytes(1023),
		"1.0KiB":                    phrase.Bytes(1024),
		"10MiB":                     phrase.Bytes(10 << 20),
		"-8.0EiB":                   phrase.Bytes(math.MinInt64),
		"4.0EiB":                    phrase.Bytes(1 << 62),
		"-1.5GiB":                   phrase.Bytes(-3 << 29),
		"? for bytes":               phrase.BytesOr(nil, "?") + " for bytes",
		"47s":                       phrase.Duration(47 * time.Second),
		"3h20m":                     phrase.Duration(200 * time.Minute),
		"0s":                        phrase.Duration(-time.Second),
		"90s":                       phrase.Seconds(int64(90)),
		"1s":                        phrase.Seconds(1.9),
		"292y":                      phrase.Seconds(int64(math.MaxInt64)),
		"2m":                        phrase.Until(time.Unix(130, 0), time.Unix(10, 0)),
		"271y":                      phrase.Until(time.Unix(0, 0).AddDate(271, 1, 0), time.Unix(0, 0)),
		"9999y":                     phrase.Until(time.Unix(9999*365*24*3600, 0), time.Unix(0, 0)),
		"0s of less than nothing":   phrase.Seconds(-5) + " of less than nothing",
		"2m of a number of seconds": phrase.SecondsOr(new(120.0), "?") + " of a number of seconds",
		"? for a number of seconds": phrase.SecondsOr[float64](nil, "?") + " for a number of seconds",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestPhraseNamedShortensLists(t *testing.T) {
	for want, names := range map[string][]string{
		"node a":                    {"a"},
		"2 nodes (a, b)":            {"a", "b"},
		"4 nodes (a, b and 2 more)": {"a", "b", "c", "d"},
	} {
		if got := phrase.Named(names, "node", 2); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
