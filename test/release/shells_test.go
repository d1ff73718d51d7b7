package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// program builds the program once for the shells, and returns its directory.
func program(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	run(t, root, []string{"CGO_ENABLED=0"}, "go", "build", "-o", filepath.Join(dir, "kubectl-fdb"), "./cmd/kubectl-fdb")
	return dir
}

// shells have a script that completes "kubectl-fdb reconc", or lists its completions, and what it
// prints. The script of the program is in the file completion.
var shells = map[string]struct{ shell, script, want string }{
	"fish": {"fish", `source completion; complete -C "kubectl-fdb reconc"`, "reconcile\tReconcile a cluster, backup or restore"},
	"bash": {"bash", `source /usr/share/bash-completion/bash_completion; source completion
COMP_WORDS=(kubectl-fdb reconc) COMP_CWORD=1 COMP_LINE="kubectl-fdb reconc" COMP_POINT=18
__start_kubectl-fdb
printf 'reply: %s\n' "${COMPREPLY[@]}"`, "reply: reconcile"},
	// Zsh completes only at a prompt: zpty has one.
	"zsh": {"zsh", `zmodload zsh/zpty
cp completion _kubectl-fdb
zpty z zsh -f -i
zpty -w z "PS1=''; fpath=($PWD \$fpath); autoload -U compinit; compinit -u -d $PWD/dump; compdef _kubectl-fdb kubectl-fdb; echo rea''dy"
zpty -r z output '*ready*'
zpty -w -n z $'kubectl-fdb reconc\t'
for i in {1..20}; do sleep 0.5; zpty -r -t z more && output+=$more; [[ $output == *"kubectl-fdb reconcile"* ]] && break; done
print -r -- "$output"
zpty -d z`, "kubectl-fdb reconcile"},
}

func TestShellsCompleteCommands(t *testing.T) {
	dir := program(t)
	for name, tc := range shells {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(tc.shell); err != nil {
				t.Fatalf("install %s: %v", tc.shell, err)
			}
			home := t.TempDir()
			script := run(t, home, nil, filepath.Join(dir, "kubectl-fdb"), "completion", tc.shell)
			if err := os.WriteFile(filepath.Join(home, "completion"), []byte(script), 0o600); err != nil {
				t.Fatal(err)
			}
			environment := []string{"HOME=" + home, "PATH=" + dir + string(filepath.ListSeparator) + os.Getenv("PATH"), "KUBECONFIG=" + filepath.Join(home, "none")}
			if output := run(t, home, environment, tc.shell, "-c", tc.script); !strings.Contains(output, tc.want) {
				t.Errorf("%s prints %q, want %q", tc.shell, output, tc.want)
			}
		})
	}
}
