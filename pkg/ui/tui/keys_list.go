package tui

// Key is one key of the dashboard, as help shows it.
type Key struct {
	// Section is its section in help.
	Section string
	// Press is the name of the key, Does its effect.
	Press, Does string
}

// Keys returns all keys of the dashboard, in the order of its help.
func Keys() []Key {
	var keys []Key
	for _, section := range sections() {
		for _, b := range bindings() {
			if b.section == section {
				keys = append(keys, Key{Section: section, Press: b.show, Does: b.does})
			}
		}
	}
	return keys
}
