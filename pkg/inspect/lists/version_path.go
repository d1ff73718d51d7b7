package lists

import "fmt"

// FirstOnPath returns a warning if kubectl runs another program than the one at self: found are the
// plugins of this name in the order of the PATH, of which kubectl runs the first. Symbolic links
// must be resolved in both. Without a plugin on the PATH there is no other one.
func FirstOnPath(self string, found []string) []string {
	if len(found) == 0 || found[0] == self {
		return nil
	}
	return []string{fmt.Sprintf("kubectl runs another plugin: %s comes first on the PATH, this program is %s", found[0], self)}
}
