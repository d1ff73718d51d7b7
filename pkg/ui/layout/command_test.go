package layout

import (
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
)

// What a user pastes into a shell is the command, however it was broken.
func TestAWrappedCommandIsUnchangedForAShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell")
	}
	commands := []string{
		`kubectl fdb replace sample-cluster storage-12345 --context a-context -n a-namespace --reason "two words and more of them to say"`,
		`kubectl patch foundationdbcluster sample --type merge -p '{"spec":{"processes":{"general":{"podTemplate":{"spec":{"tolerations":[{"key":"node.kubernetes.io/unreachable","operator":"Exists"}]}}}}}}' -n prod`,
		`kubectl get pods -l ` + strings.Repeat("a-label=a-value,", 20) + `b=c`,
		`kubectl exec x -- sh -c "echo \"` + strings.Repeat("deep ", 40) + `\""`,
	}
	for _, command := range commands {
		for _, width := range []int{60, 61, 62, 63, 64, 79, 80, 120, 200} {
			lines := Command("  next: ", command, width)
			text := strings.Join(lines, "\n")
			if n := widestIn(text); n > width {
				t.Errorf("%d cells in a width of %d:\n%s", n, width, text)
			}
			pasted := strings.TrimPrefix(text, "  next: ")
			if got, want := read(t, sh, pasted), read(t, sh, command); got != want {
				t.Errorf("at %d a shell reads %q, want %q, from:\n%s", width, got, want, pasted)
			}
		}
	}
}

func TestAnyTextAfterACommandIsBrokenWithoutLoss(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	alphabet := []string{`\`, `'`, `"`, " ", "例", "a", "kubectl", "--flag=", "\u00e9", strings.Repeat("x", 30)}
	for range 20000 {
		command := "kubectl "
		for range r.IntN(40) {
			command += alphabet[r.IntN(len(alphabet))]
		}
		lines := Command("hint: ", command, 60+r.IntN(60))
		if joined := strings.Join(lines, ""); strings.Count(joined, "例") != strings.Count(command, "例") {
			t.Fatalf("%q was broken as %q", command, lines)
		}
	}
}

// read returns the words of a command as a shell sees them.
func read(t *testing.T, sh, command string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), sh, "-c", "kubectl() { printf '<%s>' \"$@\"; }\n"+command).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", command, err, out)
	}
	return string(out)
}

func TestACommandThatFitsStaysOnOneLine(t *testing.T) {
	if got := Command("next: ", "kubectl fdb status sample", 60); len(got) != 1 {
		t.Errorf("got %q", got)
	}
}
