package fdb

import "testing"

func v(text string) Version {
	parsed, err := ParseVersion(text)
	if err != nil {
		panic(err)
	}
	return parsed
}

func TestVersionsAreFoundInText(t *testing.T) {
	cases := map[string]struct{ text, want string }{
		"a bare version":            {"7.3.79", "7.3.79"},
		"a release candidate":       {"7.1.0-rc4", "7.1.0-rc4"},
		"the banner of fdbcli":      {"FoundationDB CLI 7.3 (v7.3.79)", "7.3.79"},
		"a prerelease build":        {"7.3.79-PRERELEASE", "7.3.79"},
		"an image tag":              {"7.1.67-1", "7.1.67"},
		"the first of two versions": {"7.1.67 to 7.3.79", "7.1.67"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := ParseVersion(c.text)
			if err != nil || got.String() != c.want {
				t.Errorf("got %s (%v), want %s", got, err, c.want)
			}
		})
	}
	for _, text := range []string{"", "7.3", "latest", "7.3.99999999999999999999"} {
		if got, err := ParseVersion(text); err == nil {
			t.Errorf("%q: got %s, want an error", text, got)
		}
	}
}

func TestParseExactVersionRejectsSurroundingText(t *testing.T) {
	for _, text := range []string{"7.3.79", "7.1.0-rc4", "8.0.0"} {
		if got, err := ParseExactVersion(text); err != nil || got.String() != text {
			t.Errorf("%q: got %s (%v)", text, got, err)
		}
	}
	for _, text := range []string{
		"", "7", "7.3", "7.3.79-x", "v7.3.79", " 7.3.79", "7.3.79\n", "7.3.79.1", "7.3.79-rc", "7.3.1234567", "7.3.99999999999999999999",
	} {
		if got, err := ParseExactVersion(text); err == nil {
			t.Errorf("%q: got %s, want an error", text, got)
		}
	}
}

func TestVersionOrder(t *testing.T) {
	ascending := []string{"7.1.0-rc1", "7.1.0-rc2", "7.1.0", "7.1.42", "7.3.0", "7.3.26", "7.4.0", "8.0.0"}
	for i, low := range ascending {
		for j, high := range ascending {
			if got := v(low).AtLeast(v(high)); got != (i >= j) {
				t.Errorf("%s at least %s: got %v", low, high, got)
			}
		}
	}
}

func TestFeaturesSupportedByEachVersion(t *testing.T) {
	cases := map[string]struct {
		gate func(Version) bool
		yes  []string
		no   []string
	}{
		"supported at all":   {Version.Supported, []string{"7.1.0", "7.3.79"}, []string{"7.1.0-rc4", "6.3.25"}},
		"sidecar is_present": {Version.HasSidecarIsPresent, []string{"7.1.4", "7.3.0"}, []string{"7.1.3"}},
		"recovery age":       {Version.HasRecoveryAge, []string{"7.1.22", "7.4.0"}, []string{"7.1.21"}},
		"locality exclusion": {
			Version.SupportsLocalityExclusion,
			[]string{"7.1.42", "7.3.26", "7.4.0"},
			[]string{"7.1.41", "7.1.42-rc1", "7.2.9", "7.3.25"},
		},
		"dead testers vanish": {
			Version.ForgetsDeadTesters,
			[]string{"7.1.55", "7.2.0", "7.3.35", "7.4.0"},
			[]string{"7.1.54", "7.3.34"},
		},
		"backup encryption": {
			Version.SupportsBackupEncryption,
			[]string{"7.3.73", "7.4.6"},
			[]string{"7.1.67", "7.3.72", "7.4.5"},
		},
		"status of no database": {
			Version.ReportsMissingDatabase,
			[]string{"7.1.67", "7.3.78", "7.3.79", "7.4.7", "7.5.0", "8.0.0"},
			[]string{"7.3.0", "7.3.63", "7.3.77", "7.4.0", "7.4.6"},
		},
		"blank coordination": {
			Version.HasBlankCoordination,
			[]string{"7.3.0", "7.3.79", "7.4.6", "7.4.7"},
			[]string{"7.1.67", "7.2.0", "7.5.0", "8.0.0"},
		},
		"mutation log type": {Version.HasMutationLogType, []string{"7.4.7"}, []string{"7.4.6"}},
		"engine ssd-redwood-1": {
			func(v Version) bool { return v.SupportsStorageEngine("ssd-redwood-1") },
			[]string{"7.3.0"},
			[]string{"7.1.67", "7.2.0"},
		},
		"engine ssd-sharded-rocksdb": {
			func(v Version) bool { return v.SupportsStorageEngine("ssd-sharded-rocksdb") },
			[]string{"7.2.0"},
			[]string{"7.1.67"},
		},
		"unknown engine": {
			func(v Version) bool { return v.SupportsStorageEngine("custom") }, nil, []string{"7.3.79"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			for _, text := range c.yes {
				if !c.gate(v(text)) {
					t.Errorf("%s: want yes", text)
				}
			}
			for _, text := range c.no {
				if c.gate(v(text)) {
					t.Errorf("%s: want no", text)
				}
			}
		})
	}
}

func TestProtocolCompatibility(t *testing.T) {
	cases := map[string]struct {
		from, to               string
		compatible, changeable bool
	}{
		"a patch up":             {"7.3.43", "7.3.79", true, true},
		"a patch down":           {"7.3.79", "7.3.43", true, true},
		"a minor up":             {"7.1.67", "7.3.79", false, true},
		"a minor down":           {"7.3.79", "7.1.67", false, false},
		"a candidate to release": {"7.1.42-rc1", "7.1.42", false, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := v(c.from).ProtocolCompatible(v(c.to)); got != c.compatible {
				t.Errorf("compatible: got %v", got)
			}
			if got := v(c.from).CanChangeTo(v(c.to)); got != c.changeable {
				t.Errorf("changeable: got %v", got)
			}
		})
	}
}

func TestBothSpellingsOfAProtocolAreEqual(t *testing.T) {
	short, err := ParseProtocol("fdb00b073000000")
	if err != nil {
		t.Fatal(err)
	}
	long, err := ParseProtocol("0fdb00b073000000")
	if err != nil {
		t.Fatal(err)
	}
	line, ok := v("7.3.79").Protocol()
	if short != long || !ok || line != long || long.String() != "0fdb00b073000000" {
		t.Errorf("got %s, %s, %s", short, long, line)
	}
	if _, ok := v("6.3.25").Protocol(); ok {
		t.Error("6.3 has no known protocol")
	}
}

func FuzzParseVersion(f *testing.F) {
	for _, seed := range []string{"7.3.79", "v7.1.0-rc4", "a1.2.3.4", "0.0.0", "1.2.3-rc0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseVersion(text)
		if err != nil || got.IsZero() {
			return
		}
		again, err := ParseVersion(got.String())
		if err != nil || again != got {
			t.Errorf("%q: %s became %s (%v)", text, got, again, err)
		}
	})
}
