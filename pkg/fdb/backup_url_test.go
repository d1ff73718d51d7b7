package fdb

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestBackupURL(t *testing.T) {
	tests := map[string]struct {
		place BackupPlace
		want  string
	}{
		"a key, a host and a port": {
			BackupPlace{Account: "key@store:8333", Name: "nightly", Bucket: "b"},
			"blobstore://key@store:8333/nightly?bucket=b",
		},
		"443 where no port is named": {
			BackupPlace{Account: "key@store", Name: "nightly", Bucket: "b"},
			"blobstore://key@store:443/nightly?bucket=b",
		},
		"80 without TLS": {
			BackupPlace{Account: "key@store", Name: "nightly", Bucket: "b", Parameters: []string{"sc=0"}},
			"blobstore://key@store:80/nightly?bucket=b&sc=0",
		},
		"80 without TLS, in full": {
			BackupPlace{Account: "key@store", Name: "nightly", Bucket: "b", Parameters: []string{"secure_connection=0"}},
			"blobstore://key@store:80/nightly?bucket=b&secure_connection=0",
		},
		"an address of IP 6": {
			BackupPlace{Account: "key@[fd00::1]", Name: "nightly", Bucket: "b"},
			"blobstore://key@[fd00::1]:443/nightly?bucket=b",
		},
		"parameters in order": {
			BackupPlace{Account: "key@store", Name: "nightly", Bucket: "b", Parameters: []string{"region=eu", "cr=5"}},
			"blobstore://key@store:443/nightly?bucket=b&cr=5&region=eu",
		},
		"a parameter comes before the bucket": {
			BackupPlace{Account: "key@store", Name: "nightly", Bucket: "b", Parameters: []string{"bucket=other"}},
			"blobstore://key@store:443/nightly?bucket=other",
		},
		"the whole of a value": {
			BackupPlace{Account: "key@store", Name: "nightly", Bucket: "b", Parameters: []string{"other=A:b=c"}},
			"blobstore://key@store:443/nightly?bucket=b&other=A%3Ab%3Dc",
		},
		"an empty key keeps its @, without which requests are not signed": {
			BackupPlace{Account: "@store", Name: "nightly", Bucket: "b"},
			"blobstore://@store:443/nightly?bucket=b",
		},
		"an empty key and a port": {
			BackupPlace{Account: "@store:8333", Name: "nightly", Bucket: "b", Parameters: []string{"sdk_auth=1"}},
			"blobstore://@store:8333/nightly?bucket=b&sdk_auth=1",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := tt.place.URL(); err != nil || got != tt.want {
				t.Errorf("got %s, %v, want %s", got, err, tt.want)
			}
		})
	}
}

func TestABackupURLNeverHoldsASecret(t *testing.T) {
	for name, place := range map[string]BackupPlace{
		"behind the key":             {Account: "key:hunter2@store", Name: "nightly", Bucket: "b"},
		"in a header":                {Account: "key@store", Name: "nightly", Bucket: "b", Parameters: []string{"header=Authorization:hunter2"}},
		"in a header in capitals":    {Account: "key@store", Name: "nightly", Bucket: "b", Parameters: []string{"HEADER=Authorization:hunter2"}},
		"in a header of odd letters": {Account: "key@store", Name: "nightly", Bucket: "b", Parameters: []string{"header=Ä:hunter2"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := place.URL()
			if !errors.Is(err, ErrSecretInAccount) || strings.Contains(got+err.Error(), "hunter2") {
				t.Errorf("got %s, %v", got, err)
			}
		})
	}
}

func TestInvalidBackupDestinationsAreRejected(t *testing.T) {
	for name, place := range map[string]BackupPlace{
		"no host":                   {Account: "key@", Name: "n", Bucket: "b"},
		"no @":                      {Account: "store", Name: "n", Bucket: "b"},
		"no name":                   {Account: "key@store", Bucket: "b"},
		"a parameter without value": {Account: "key@store", Name: "n", Bucket: "b", Parameters: []string{"sc"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := place.URL(); err == nil {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestSecretsOfBackupURLsAreRemovedFromText(t *testing.T) {
	for given, want := range map[string]string{
		"Deleting blobstore://key:hunter2@s:1/b?bucket=b...":               "Deleting blobstore://key:…@s:1/b?bucket=b...",
		"on URL 'blobstore://key:hunter2:token@s/b?bucket=b'":              "on URL 'blobstore://key:…@s/b?bucket=b'",
		"blobstore://key@s:1/b?bucket=b":                                   "blobstore://key@s:1/b?bucket=b",
		"blobstore://key@s/b?header=Authorization:hunter2&sc=0":            "blobstore://key@s/b?header=Authorization:…&sc=0",
		"blobstore://key@s/b?header=Authorization%3Ahunter2":               "blobstore://key@s/b?header=Authorization%3A…",
		`"blobstore://key@s/b?bucket=b\u0026header=Authorization:hunter2"`: `"blobstore://key@s/b?bucket=b\u0026header=Authorization:…"`,
		"blobstore://key@s/b?header=%C3%84%3ahunter2":                      "blobstore://key@s/b?header=%C3%84%3a…",
		"file:///var/backups/":                                             "file:///var/backups/",
	} {
		if got := WithoutSecrets(given); got != want {
			t.Errorf("%s: got %s, want %s", given, got, want)
		}
	}
}

func TestSameBackupURL(t *testing.T) {
	const plain = "blobstore://key@store:443/nightly?bucket=b&cr=5"
	tests := map[string]struct {
		other string
		want  bool
	}{
		"the same":                      {plain, true},
		"parameters in another order":   {"blobstore://key@store:443/nightly?cr=5&bucket=b", true},
		"with a secret":                 {"blobstore://key:hunter2@store:443/nightly?bucket=b&cr=5", true},
		"a slash at the end":            {"blobstore://key@store:443/nightly?bucket=b&cr=5/", true},
		"another name":                  {"blobstore://key@store:443/hourly?bucket=b&cr=5", false},
		"another value of a parameter":  {"blobstore://key@store:443/nightly?bucket=b&cr=6", false},
		"another port":                  {"blobstore://key@store:80/nightly?bucket=b&cr=5", false},
		"a parameter that is not there": {"blobstore://key@store:443/nightly?bucket=b", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := SameBackupURL(plain, tt.other); got != tt.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

// FoundationDB signs requests only where the URL contains an @, so an empty key is not the
// same as none.
func TestSameBackupURLWithAnEmptyKey(t *testing.T) {
	const signed = "blobstore://@store:443/nightly?bucket=b"
	for other, want := range map[string]bool{
		signed:                                       true,
		"blobstore://@store/nightly?bucket=b":        true,
		"blobstore://store:443/nightly?bucket=b":     false,
		"blobstore://key@store:443/nightly?bucket=b": false,
	} {
		if SameBackupURL(signed, other) != want || SameBackupURL(other, signed) != want {
			t.Errorf("%s: want %t both ways", other, want)
		}
		if !SharesBackupPlace(signed, other) || !SameBackupPlace(signed, other) {
			t.Errorf("%s: a different place", other)
		}
	}
	if base, err := BackupBase(signed); err != nil || base != "blobstore://@store:443/?bucket=b" {
		t.Errorf("the bucket is %s, %v", base, err)
	}
}

func TestOverlappingBackupDestinationsAreDetected(t *testing.T) {
	const plain = "blobstore://key@store:443/nightly?bucket=b"
	tests := map[string]struct {
		other string
		want  bool
	}{
		"the same":                {plain, true},
		"with another key":        {"blobstore://other@store:443/nightly?bucket=b", true},
		"with a secret":           {"blobstore://key:…@store:443/nightly?bucket=b", true},
		"with another parameter":  {"blobstore://key@store:443/nightly?bucket=b&cr=5", true},
		"within it":               {"blobstore://key@store:443/nightly/one?bucket=b", true},
		"what cannot be read":     {"blobstore://key@[store/nightly?bucket=b", true},
		"without the port":        {"blobstore://key@store/nightly?bucket=b", true},
		"with an empty port":      {"blobstore://key@store:/nightly?bucket=b", true},
		"another default port":    {"blobstore://key@store/nightly?bucket=b&sc=0", false},
		"another port":            {"blobstore://key@store:8443/nightly?bucket=b", false},
		"the bucket itself":       {"blobstore://key@store:443/?bucket=b", true},
		"a secret elsewhere":      {"blobstore://key:hunter2@store:443/other?bucket=b", false},
		"another bucket":          {"blobstore://key@store:443/nightly?bucket=c", false},
		"another host":            {"blobstore://key@other:443/nightly?bucket=b", false},
		"a name with that prefix": {"blobstore://key@store:443/nightly2?bucket=b", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if SharesBackupPlace(plain, tt.other) != tt.want || SharesBackupPlace(tt.other, plain) != tt.want {
				t.Errorf("want %t both ways", tt.want)
			}
		})
	}
}

// Tools name a place as they are given, and users omit the default port.
func TestBackupURLsAreEqualWithAndWithoutTheDefaultPort(t *testing.T) {
	tests := map[string]struct {
		named, plain string
		want         bool
	}{
		"secure":                      {"blobstore://key@store:443/x?bucket=b", "blobstore://key@store/x?bucket=b", true},
		"not secure":                  {"blobstore://key@store:80/x?bucket=b&sc=0", "blobstore://key@store/x?bucket=b&sc=0", true},
		"not secure, the long name":   {"blobstore://key@store:80/x?bucket=b&secure_connection=0", "blobstore://key@store/x?secure_connection=0&bucket=b", true},
		"without a key":               {"blobstore://store:443/x?bucket=b", "blobstore://store/x?bucket=b", true},
		"a key that is like the host": {"blobstore://store@store:443/x?bucket=b", "blobstore://store@store/x?bucket=b", true},
		"with a secret":               {"blobstore://key:hunter2@store:443/x?bucket=b", "blobstore://key@store/x?bucket=b", true},
		"an address":                  {"blobstore://key@[fd00::1]:443/x?bucket=b", "blobstore://key@[fd00::1]/x?bucket=b", true},
		"the port of the other kind":  {"blobstore://key@store:80/x?bucket=b", "blobstore://key@store/x?bucket=b", false},
		"a port of its own":           {"blobstore://key@store:9000/x?bucket=b", "blobstore://key@store/x?bucket=b", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if SameBackupURL(tt.named, tt.plain) != tt.want || SameBackupURL(tt.plain, tt.named) != tt.want {
				t.Errorf("the same: want %t both ways", tt.want)
			}
			if SharesBackupPlace(tt.named, tt.plain) != tt.want || SharesBackupPlace(tt.plain, tt.named) != tt.want {
				t.Errorf("shared: want %t both ways", tt.want)
			}
		})
	}
}

func FuzzWithoutSecrets(f *testing.F) {
	f.Add("hunter2", "key", "store")
	f.Fuzz(func(t *testing.T, secret, key, host string) {
		if secret == "" || strings.ContainsAny(secret+key+host, "@/:'\" \t\r\n\v\f") || strings.Contains(key+host+"blobstore://:…@", secret) {
			return
		}
		text := "ERROR: 'blobstore://" + key + ":" + secret + "@" + host + "'"
		if got := WithoutSecrets(text); strings.Contains(got[len("ERROR: '"):], secret) {
			t.Errorf("%q shows the secret: %q", text, got)
		}
	})
}

func TestBackupCommands(t *testing.T) {
	const url = "blobstore://key@store:443/nightly?bucket=b"
	older, newer := Version{Major: 7, Minor: 3, Patch: 79}, Version{Major: 7, Minor: 4, Patch: 7}
	version := uint64(42)
	tests := map[string]struct {
		got, want []string
	}{
		"a continuous backup": {
			BackupStart{URL: url, Tag: "t", Continuous: true, Period: time.Hour}.Command(older),
			[]string{"fdbbackup", "start", "-d", url, "-t", "t", "-s", "3600", "-z"},
		},
		"one snapshot": {
			BackupStart{URL: url, Tag: "t", Period: time.Hour}.Command(older),
			[]string{"fdbbackup", "start", "-d", url, "-t", "t"},
		},
		"encrypted": {
			BackupStart{URL: url, Tag: "t", EncryptionKeyFile: "/key"}.Command(older),
			[]string{"fdbbackup", "start", "-d", url, "-t", "t", "--encryption-key-file", "/key"},
		},
		"from the logs, as older tools want it": {
			BackupStart{URL: url, Tag: "t", PartitionedLog: true}.Command(older),
			[]string{"fdbbackup", "start", "-d", url, "-t", "t", "--partitioned-log-experimental"},
		},
		"from the logs, as newer tools want it": {
			BackupStart{URL: url, Tag: "t", PartitionedLog: true}.Command(newer),
			[]string{"fdbbackup", "start", "-d", url, "-t", "t", "--mutation-log-type", "partitioned-log-experimental"},
		},
		"another period": {
			BackupChange{Tag: "t", Period: time.Minute, EncryptionKeyFile: "/key"}.Command(),
			[]string{"fdbbackup", "modify", "-t", "t", "-s", "60"},
		},
		"another place": {
			BackupChange{Tag: "t", Period: time.Minute, URL: url, EncryptionKeyFile: "/key"}.Command(),
			[]string{"fdbbackup", "modify", "-t", "t", "-s", "60", "-d", url, "--encryption-key-file", "/key"},
		},
		"a restore of everything": {
			RestoreStart{URL: url}.Command(),
			[]string{"fdbrestore", "start", "--dest_cluster_file", BackupClusterFile, "-r", url},
		},
		"a restore of two ranges as of a version": {
			RestoreStart{URL: url, Version: &version, Ranges: [][2]string{{"a", "b"}, {`\x15`, `\x16`}}, EncryptionKeyFile: "/key"}.Command(),
			[]string{
				"fdbrestore", "start", "--dest_cluster_file", BackupClusterFile, "-r", url, "--encryption-key-file", "/key", "-v", "42",
				"-k", `a b;\x15 \x16`,
			},
		},
		"knobs, and no localities": {
			WithKnobs([]string{"fdbbackup", "pause"}, []string{"knob_a=1", "locality_data_hall=x", "locality-rack=y"}),
			[]string{"fdbbackup", "pause", "--knob_a=1"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, tt.got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
