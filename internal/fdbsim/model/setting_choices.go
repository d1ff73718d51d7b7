package model

// settingChoice is a setting that takes one of several words.
type settingChoice struct {
	// Valid are the words as messages list them.
	Valid string
	// Stored is the number under which each is stored.
	Stored map[string]string
}

// Choices are the settings that take one of several words, by name.
var Choices = map[string]settingChoice{
	"storage_migration_type": {"disabled|aggressive|gradual", map[string]string{"disabled": "1", "aggressive": "2", "gradual": "3"}},
	"tenant_mode": {
		"disabled|optional_experimental|required_experimental",
		map[string]string{"disabled": "0", "optional_experimental": "1", "required_experimental": "2"},
	},
	"encryption_at_rest_mode": {
		"disabled|domain_aware|cluster_aware", map[string]string{"disabled": "0", "domain_aware": "1", "cluster_aware": "2"},
	},
	"perpetual_storage_wiggle": {"0|1", map[string]string{"0": "0", "1": "1"}},
	"blob_granules_enabled":    {"0|1", map[string]string{"0": "0", "1": "1"}},
}
