package fdb

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAddresses(t *testing.T) {
	cases := map[string]struct {
		text           string
		want           Address
		hostPort, full string
	}{
		"IPv4": {"10.1.2.3:4501", Address{Host: "10.1.2.3", Port: 4501}, "10.1.2.3:4501", "10.1.2.3:4501"},
		"IPv4 in the unified image's brackets": {
			"[10.1.2.3]:4500:tls", Address{Host: "10.1.2.3", Port: 4500, TLS: true}, "10.1.2.3:4500", "10.1.2.3:4500:tls",
		},
		"IPv6":               {"[fd00::1]:4501", Address{Host: "fd00::1", Port: 4501}, "[fd00::1]:4501", "[fd00::1]:4501"},
		"IPv6 written long":  {"[fd00:0:0::1]:4501", Address{Host: "fd00::1", Port: 4501}, "[fd00::1]:4501", "[fd00::1]:4501"},
		"a host name":        {"a-1.ns.svc:4501:tls", Address{Host: "a-1.ns.svc", Port: 4501, TLS: true}, "a-1.ns.svc:4501", "a-1.ns.svc:4501:tls"},
		"a resolved name":    {"10.1.2.3:4501(fromHostname)", Address{Host: "10.1.2.3", Port: 4501, FromHostname: true}, "10.1.2.3:4501", "10.1.2.3:4501(fromHostname)"},
		"an unknown log":     {UnknownLogAddress, Address{Host: "0.0.0.0"}, "0.0.0.0:0", "0.0.0.0:0"},
		"resolved, with TLS": {"10.1.2.3:4500:tls(fromHostname)", Address{Host: "10.1.2.3", Port: 4500, TLS: true, FromHostname: true}, "10.1.2.3:4500", "10.1.2.3:4500:tls(fromHostname)"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ParseAddress(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
			if got.HostPort() != c.hostPort || got.String() != c.full {
				t.Errorf("got %q and %q, want %q and %q", got.HostPort(), got.String(), c.hostPort, c.full)
			}
		})
	}
}

func TestInvalidAddressesAreRejected(t *testing.T) {
	for _, text := range []string{
		"", "10.1.2.3", ":4501", "10.1.2.300:4501", "fd00::1:4501", "[fd00::1:4501", "[fd00::1]", "10.1.2.3:65536",
		"10.1.2.3:", "a b:1", "a;b:1", "[name]:1", "[fe80::1%eth0]:1", "10.1.2.3:+1", "a..b:1",
	} {
		if got, err := ParseAddress(text); err == nil {
			t.Errorf("%q: got %+v, want an error", text, got)
		}
	}
}

func TestPublicAddressesOfACommandLine(t *testing.T) {
	got, err := PublicAddresses("/usr/bin/fdbserver --class=log --public_address=[10.1.2.3]:4500:tls,[10.1.2.3]:4501 --x=y")
	if err != nil {
		t.Fatal(err)
	}
	want := []Address{{Host: "10.1.2.3", Port: 4500, TLS: true}, {Host: "10.1.2.3", Port: 4501}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := PublicAddresses("/usr/bin/fdbserver"); err == nil {
		t.Error("a command line without public address: want an error")
	}
}

func FuzzParseAddress(f *testing.F) {
	for _, seed := range []string{"10.1.2.3:4501", "[fd00::1]:4500:tls(fromHostname)", "a.b:1", "[10.0.0.1]:2", "0.0.0.0:0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseAddress(text)
		if err != nil {
			return
		}
		again, err := ParseAddress(got.String())
		if err != nil || again != got {
			t.Errorf("%q: %+v became %+v (%v)", text, got, again, err)
		}
	})
}

func TestSameHost(t *testing.T) {
	for name, tc := range map[string]struct {
		a, b string
		want bool
	}{
		"equal IPv4":             {"10.0.0.1", "10.0.0.1", true},
		"other IPv4":             {"10.0.0.1", "10.0.0.2", false},
		"IPv6 in two ways":       {"fd00::1", "fd00:0:0:0:0:0:0:1", true},
		"an address and a name":  {"10.0.0.1", "pod", false},
		"a name and an address":  {"pod", "10.0.0.1", false},
		"equal names":            {"pod", "pod", true},
		"nothing and an address": {"", "10.0.0.1", false},
	} {
		if got := SameHost(tc.a, tc.b); got != tc.want {
			t.Errorf("%s: %t, want %t", name, got, tc.want)
		}
	}
}

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
