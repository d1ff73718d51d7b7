package fdb

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConnectionStrings(t *testing.T) {
	const text = "sample_cluster:abcdefgh@10.1.0.1:4501,[fd00::1]:4500:tls,a.ns.svc:4501"
	got, err := ParseConnectionString(text + "\n")
	if err != nil {
		t.Fatal(err)
	}
	want := ConnectionString{
		Description: "sample_cluster", ID: "abcdefgh",
		Coordinators: []Address{
			{Host: "10.1.0.1", Port: 4501},
			{Host: "fd00::1", Port: 4500, TLS: true},
			{Host: "a.ns.svc", Port: 4501},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got.String() != text {
		t.Errorf("got %q, want %q", got, text)
	}
	if empty := (ConnectionString{}).String(); empty != "" {
		t.Errorf("no connection string prints as %q", empty)
	}
}

func TestCommentsInClusterFilesAreIgnored(t *testing.T) {
	got, err := ParseClusterFile("# DO NOT EDIT!\n# This file is auto-generated.\n\nmycluster:1@10.1.0.1:4501\n")
	if err != nil || got.String() != "mycluster:1@10.1.0.1:4501" {
		t.Errorf("got %q (%v)", got, err)
	}
}

func TestInvalidConnectionStringsAreRejected(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":                    "",
		"no name":                    "10.1.0.1:4501",
		"no description":             ":id@10.1.0.1:4501",
		"no id":                      "d:@10.1.0.1:4501",
		"a dash in the description":  "my-cluster:id@10.1.0.1:4501",
		"no coordinators":            "d:id@",
		"a coordinator twice":        "d:id@10.1.0.1:4501,10.1.0.1:4501",
		"twice, once with TLS":       "d:id@10.1.0.1:4501,10.1.0.1:4501:tls",
		"a coordinator without port": "d:id@10.1.0.1",
		"port zero":                  "d:id@10.1.0.1:0",
		"a status mark":              "d:id@10.1.0.1:4501(fromHostname)",
		"a command after it":         "d:id@10.1.0.1:4501;kill",
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := ParseConnectionString(text); err == nil {
				t.Errorf("got %+v, want an error", got)
			}
		})
	}
}

func TestCoordinatorsAreComparedAsSets(t *testing.T) {
	a, b := Address{Host: "10.1.0.1", Port: 1}, Address{Host: "10.1.0.2", Port: 1, FromHostname: true}
	s := ConnectionString{Coordinators: []Address{a, b}}
	if !s.SameCoordinators([]Address{b, a}) || s.SameCoordinators([]Address{a}) {
		t.Errorf("got %v, %v", s.SameCoordinators([]Address{b, a}), s.SameCoordinators([]Address{a}))
	}
}

func FuzzParseConnectionString(f *testing.F) {
	for _, seed := range []string{"d:id@10.1.0.1:4501", "d:id@a.b:1:tls,[::1]:2", "d:id@", "@", "d:i@1.1.1.1:1#x"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseConnectionString(text)
		if err != nil {
			return
		}
		again, err := ParseClusterFile("# comment\n" + got.String() + "\n")
		if err != nil || again.String() != got.String() {
			t.Errorf("%q: %s became %s (%v)", text, got, again, err)
		}
	})
}

func TestConnectionStringHostNamesAreListedOnce(t *testing.T) {
	s, err := ParseConnectionString("a:b@b.svc:4501,10.0.0.1:4501,[::1]:4501,a.svc:4501:tls,b.svc:4503")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b.svc", "a.svc"}, s.HostNames()); diff != "" {
		t.Error(diff)
	}
	l := NameLookups{Names: []NameLookup{{Name: "a.svc", Lookups: 3}, {Name: "b.svc"}}}
	if _, looked := l.Of("a.svc"); !looked || l.Total() != 3 {
		t.Errorf("got %+v", l)
	}
	for _, name := range []string{"b.svc", "c.svc"} {
		if _, looked := l.Of(name); looked {
			t.Errorf("%s was never looked up", name)
		}
	}
}
