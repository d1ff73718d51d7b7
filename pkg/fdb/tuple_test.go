package fdb

import (
	"bytes"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTupleBytes(t *testing.T) {
	cases := map[string]struct {
		tuple Tuple
		bytes string
	}{
		"nothing":               {nil, ""},
		"nil":                   {Tuple{nil}, "\x00"},
		"string":                {Tuple{"dc1"}, "\x02dc1\x00"},
		"empty string":          {Tuple{""}, "\x02\x00"},
		"zero byte in a string": {Tuple{"a\x00b"}, "\x02a\x00\xffb\x00"},
		"bytes":                 {Tuple{[]byte("x\x00")}, "\x01x\x00\xff\x00"},
		"zero":                  {Tuple{int64(0)}, "\x14"},
		"one":                   {Tuple{int64(1)}, "\x15\x01"},
		"minus one":             {Tuple{int64(-1)}, "\x13\xfe"},
		"255":                   {Tuple{int64(255)}, "\x15\xff"},
		"256":                   {Tuple{int64(256)}, "\x16\x01\x00"},
		"minus 256":             {Tuple{int64(-256)}, "\x12\xfe\xff"},
		"a time":                {Tuple{int64(1754300000)}, "\x18\x68\x90\x7e\x60"},
		"largest":               {Tuple{int64(math.MaxInt64)}, "\x1c\x7f\xff\xff\xff\xff\xff\xff\xff"},
		"smallest":              {Tuple{int64(math.MinInt64)}, "\x0c\x7f\xff\xff\xff\xff\xff\xff\xff"},
		"a lock": {
			Tuple{"dc1", int64(1754300000), int64(1754300600)},
			"\x02\x64\x63\x31\x00\x18\x68\x90\x7e\x60\x18\x68\x90\x80\xb8",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.bytes, string(c.tuple.Pack())); diff != "" {
				t.Error(diff)
			}
			got, err := UnpackTuple([]byte(c.bytes))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.tuple, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMalformedTuplesAreErrors(t *testing.T) {
	for name, packed := range map[string]string{
		"string without end":        "\x02dc1",
		"integer cut short":         "\x18\x68",
		"integer too large to sign": "\x1c\xff\xff\xff\xff\xff\xff\xff\xff",
		"integer too small to sign": "\x0c\x00\x00\x00\x00\x00\x00\x00\x00",
		"an unused type":            "\x21\x00\x00\x00\x00\x00\x00\x00\x00",
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := UnpackTuple([]byte(packed)); err == nil {
				t.Errorf("got %v, want an error", got)
			}
		})
	}
}

func FuzzUnpackTuple(f *testing.F) {
	for _, seed := range []string{"\x02a\x00\xff\x00\x15\x01", "\x00\x14\x13\xfe", "\x01\x00", "\x0c\x7f\xff\xff\xff\xff\xff\xff\xff"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, packed []byte) {
		got, err := UnpackTuple(packed)
		if err != nil {
			return
		}
		again, err := UnpackTuple(got.Pack())
		if err != nil || !cmp.Equal(again, got) {
			t.Errorf("%x: %v became %v (%v)", packed, got, again, err)
		}
		if len(got.Pack()) > len(packed) {
			t.Errorf("%x grew to %x", packed, got.Pack())
		}
	})
}

func TestLockEncodingMatchesRecordedBytes(t *testing.T) {
	l, err := DecodeLock([]byte("\x02dc1\x00\x18\x68\x90\x7e\x60\x18\x68\x90\x80\xb8"))
	if err != nil {
		t.Fatal(err)
	}
	if l.Owner != "dc1" || l.Start.Unix() != 1754300000 || l.End.Unix() != 1754300600 || l.Nonce != "" {
		t.Errorf("got %+v", l)
	}
	l.Nonce = "6b1f"
	if want := []byte("\x02dc1\x00\x18\x68\x90\x7e\x60\x18\x68\x90\x80\xb8\x026b1f\x00"); !bytes.Equal(l.Encode(), want) {
		t.Errorf("got %x, want %x", l.Encode(), want)
	}
}
