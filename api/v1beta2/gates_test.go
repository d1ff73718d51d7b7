package v1beta2

import "testing"

func TestFeaturesBeginWithAVersion(t *testing.T) {
	type features struct{ presence, encryption, mutationLog bool }
	tests := map[string]features{
		"7.1.3":     {false, false, false},
		"7.1.4-rc1": {false, false, false},
		"7.1.4":     {true, false, false},
		"7.2.9":     {true, false, false},
		"7.3.72":    {true, false, false},
		"7.3.73":    {true, true, false},
		"7.4.5":     {true, false, false},
		"7.4.6":     {true, true, false},
		"7.4.7":     {true, true, true},
		"8.0.0":     {true, true, true},
		"nonsense":  {false, false, false},
	}
	for v, want := range tests {
		c := cluster(func(c *FoundationDBCluster) { c.Spec.Version = v })
		b := &FoundationDBBackup{Spec: FoundationDBBackupSpec{Version: v}}
		if got := (features{c.SidecarTellsPresence(), b.SupportsEncryption(), b.NamesMutationLogType()}); got != want {
			t.Errorf("%s: got %+v, want %+v", v, got, want)
		}
	}
}
