package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// programs builds kubectl, the program and its completion for kubectl once for the shells, and returns their directory.
func programs(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	run(t, root, []string{"CGO_ENABLED=0"}, "go", "build", "-o", filepath.Join(dir, "kubectl-fdb"), "./cmd/kubectl-fdb")
	run(t, root, nil, "make", "BIN="+dir, "build-kubectl")
	run(t, root, nil, filepath.Join(dir, "kubectl-fdb"), "completion", "install", "--dir", dir)
	return dir
}

// shells have a script that completes LINE, the words of a command line, or lists its completions. The script of PROGRAM, the
// first word, is in the file completion. Each prints the answer after "reply: ".
var shells = map[string]string{
	"fish": `source completion
printf 'reply: %s\n' (complete -C "$LINE" | string split -f 1 \t)`,
	"bash": `source /usr/share/bash-completion/bash_completion; source completion
COMP_WORDS=($LINE) COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$LINE COMP_POINT=${#LINE}
__start_$PROGRAM
printf 'reply: %s\n' "${COMPREPLY[@]}"`,
	// Zsh completes only at a prompt: zpty has one.
	"zsh": `zmodload zsh/zpty
cp completion _$PROGRAM
zpty z zsh -f -i
zpty -w z "PS1=''; fpath=($PWD \$fpath); autoload -U compinit; compinit -u -d $PWD/dump; compdef _$PROGRAM $PROGRAM; echo rea''dy"
zpty -r z output '*ready*'
zpty -w -n z "$LINE"$'\t'
for i in {1..20}; do sleep 0.5; zpty -r -t z more && output+=$more; [[ $output == *"${LINE}ile"* ]] && break; done
[[ $output == *"${LINE}ile"* ]] && print "reply: reconcile"
print -r -- "$output"
zpty -d z`,
}

func TestShellsCompleteCommands(t *testing.T) {
	dir := programs(t)
	for shell, script := range shells {
		// kubectl runs kubectl_complete-fdb for the words after fdb.
		for program, line := range map[string]string{"kubectl-fdb": "kubectl-fdb reconc", "kubectl": "kubectl fdb reconc"} {
			t.Run(shell+" "+program, func(t *testing.T) {
				if _, err := exec.LookPath(shell); err != nil {
					t.Fatalf("install %s: %v", shell, err)
				}
				home := t.TempDir()
				environment := []string{
					"HOME=" + home, "PATH=" + dir + string(filepath.ListSeparator) + os.Getenv("PATH"), "KUBECONFIG=" + filepath.Join(home, "none"),
					"PROGRAM=" + program, "LINE=" + line,
				}
				completion := run(t, home, environment, filepath.Join(dir, program), "completion", shell)
				if err := os.WriteFile(filepath.Join(home, "completion"), []byte(completion), 0o600); err != nil {
					t.Fatal(err)
				}
				if output := run(t, home, environment, shell, "-c", script); !strings.Contains(output, "reply: reconcile\n") {
					t.Errorf("%s completes %q to %q", shell, line, output)
				}
			})
		}
	}
}
