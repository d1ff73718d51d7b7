package docs

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// unplanned are commands of pages that change a resource of FoundationDB, or record that it was changed, with no plan of the
// same change before them, and why they may, by page and command.
var unplanned = map[string]map[string]string{
	"commands/kubectl_fdb_auth_role.md": {
		"kubectl fdb auth role status wait | kubectl apply -f -": "a Role",
	},
	"captures.md": {
		`kubectl patch fdb sample-cluster --type merge -p '{"spec":{"version":"7.3.80"}}'`: "what happened before a capture that is shown as it was",
	},
}

var (
	anyFence   = regexp.MustCompile("(?s)```\\w*\n(.*?)```")
	inlineCode = regexp.MustCompile("`([^`\n]+)`")
	changes    = regexp.MustCompile(`\bkubectl(?: -\S+(?: [^-\s]\S*)?)* (patch|edit|replace|apply|create)\b(.*)`)
	ofDatabase = regexp.MustCompile(`^ (?:fdb|fdbcluster|fdbbackup|fdbrestore|foundationdb\w+)\b`)
	manifestOf = regexp.MustCompile(`(?:-f|--filename)[ =](\S+)`)
)

// Whoever follows a page sees what a change does before anything in the Kubernetes cluster knows of it.
func TestNoPageChangesASpecBeforeItsPlan(t *testing.T) {
	for page, text := range pages(t) {
		for _, command := range unplannedChanges(text, manifest) {
			if unplanned[page][command] == "" {
				t.Errorf("%s: no plan before %q: use kubectl fdb plan and reconcile with --set, --unset or -f", page, command)
			}
		}
	}
	for name, commands := range unplanned {
		text, err := os.ReadFile(name)
		for command := range commands {
			if err != nil || !strings.Contains(string(text), command) {
				t.Errorf("%s does not have %q any more: remove it from the list (%v)", name, command, err)
			}
		}
	}
}

// manifest returns a file that a page names; what is not shipped is the reader's, and has a cluster.
func manifest(name string) string {
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil && !strings.HasPrefix(name, "manifests/") && !strings.HasPrefix(name, "role") {
		return "kind: FoundationDBCluster"
	}
	return string(text)
}

// unplannedChanges returns the commands of a page that change resources of FoundationDB with kubectl, but for manifests that
// an earlier command of the page plans.
func unplannedChanges(text string, read func(string) string) (found []string) {
	planned := map[string]bool{}
	for _, command := range typed(text) {
		if strings.Contains(command, "kubectl fdb plan ") {
			for _, file := range manifestOf.FindAllStringSubmatch(command, -1) {
				planned[file[1]] = true
			}
		}
		if changesSpec(command, planned, read) {
			found = append(found, command)
		}
	}
	return found
}

func changesSpec(command string, planned map[string]bool, read func(string) string) bool {
	m := changes.FindStringSubmatch(command)
	if m == nil {
		return false
	}
	if ofDatabase.MatchString(m[2]) {
		return m[1] != "create"
	}
	for _, file := range manifestOf.FindAllStringSubmatch(m[2], -1) {
		if !planned[file[1]] && strings.Contains(read(file[1]), "kind: FoundationDB") {
			return true
		}
	}
	return false
}

// typed returns what a page has as commands, in fences and in sentences, in their order and without comments.
func typed(text string) (commands []string) {
	add := func(line string) {
		line, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "$ "), " # ")
		if line = strings.TrimSpace(line); strings.Contains(line, "kubectl ") && !strings.HasPrefix(line, "#") {
			commands = append(commands, line)
		}
	}
	at := 0
	for _, m := range append(anyFence.FindAllStringSubmatchIndex(text, -1), []int{len(text), len(text), len(text), len(text)}) {
		for _, code := range inlineCode.FindAllStringSubmatch(text[at:m[0]], -1) {
			if strings.Count(code[1], " ") > 2 { // `kubectl apply` alone is a name
				add(code[1])
			}
		}
		for line := range strings.Lines(strings.ReplaceAll(text[m[2]:m[3]], "\\\n", "")) {
			if fields := strings.Fields(line); len(fields) > 0 && strings.HasPrefix(cmp.Or(strings.TrimPrefix(strings.TrimSpace(line), "$ "), " "), "kubectl ") || strings.Contains(line, "| kubectl ") {
				add(line)
			}
		}
		at = m[1]
	}
	return commands
}

func TestAChangeBeforeItsPlanIsFound(t *testing.T) {
	read := func(name string) string {
		return map[string]string{"role.yaml": "kind: Role", "c.yaml": "kind: FoundationDBCluster", "-": "kind: FoundationDBRestore"}[name]
	}
	for name, tc := range map[string]struct {
		page  string
		found int
	}{
		"a patch of the spec":                     {"```sh\nkubectl patch fdb c -p '{}'\n```\n", 1},
		"a patch in a namespace":                  {"```sh\nkubectl -n fdb patch foundationdbcluster c -p '{}'\n```\n", 1},
		"a patch in a sentence":                   {"Run `kubectl patch fdb c --type merge -p '{}'`.", 1},
		"an edit in a console":                    {"```console\n$ kubectl edit foundationdbbackup b\n```\n", 1},
		"a manifest that no command planned":      {"```sh\nkubectl apply -f c.yaml\nkubectl fdb plan c\n```\n", 1},
		"a manifest from a pipe":                  {"```sh\nsed s/a/b/ r.yaml | kubectl apply -f -\n```\n", 1},
		"a manifest of which a plan came first":   {"```sh\nkubectl fdb plan -f c.yaml\nkubectl apply -f c.yaml\n```\n", 0},
		"a manifest without a resource of ours":   {"```sh\nkubectl apply -f role.yaml\n```\n", 0},
		"a patch of something else":               {"```sh\nkubectl patch pv pvc-1 -p '{}'\n```\n", 0},
		"a command in a comment":                  {"```sh\nkubectl fdb plan -f d.yaml # as after kubectl apply -f c.yaml\n```\n", 0},
		"the name of a command":                   {"As after `kubectl apply`.", 0},
		"a change with its plan, by this program": {"```sh\nkubectl fdb plan c --set version=1\nkubectl fdb reconcile c --set version=1 --yes\n```\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			if found := unplannedChanges(tc.page, read); len(found) != tc.found {
				t.Errorf("found %q, want %d", found, tc.found)
			}
		})
	}
}
