package live_test

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-fdb/kubectl-fdb/api/v1beta2"
	"github.com/kubectl-fdb/kubectl-fdb/internal/fdbsim"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/fdb"
	"github.com/kubectl-fdb/kubectl-fdb/pkg/reconcile/objects"
)

// What must never be done to backups, and what has to come in the end.
const (
	neverTwice             = "no second backup on one tag"
	neverIncompatiblePeers = "no backup of a stranger is ended or moved"
	neverOverData          = "no restore over data, and no data of users taken away"
	onceRestored           = "no restore is started twice"
	onlyOwnData            = "data of a backup is deleted by policy only, and only where its record wrote"
	noSecrets              = "no credentials in any output, argument or record"
	neverPraised           = "no record calls a backup restorable that cannot be restored from where it goes"
	comesToRest            = "a history converges once troubles end"
)

var backupInvariants = []string{neverTwice, neverIncompatiblePeers, neverOverData, onceRestored, onlyOwnData, noSecrets, neverPraised, comesToRest}

// witness remembers who did what, by what really happened.
type witness struct {
	owner    map[string]string   // of backups, by their identities; strangers are not in it
	wrote    map[string][]string // where the backups of a resource went
	restores map[string]int      // how often each record's restore was started
}

func newWitness() witness {
	return witness{map[string]string{}, map[string][]string{}, map[string]int{}}
}

// sight is what is true at a moment.
type sight struct {
	backups  map[string]fdbsim.BackupTruth
	restores []string
	keys     int
	stored   []string
}

func (h *backupHistory) look() sight {
	s := sight{backups: map[string]fdbsim.BackupTruth{}, restores: h.db.RestoreUIDs(), keys: h.db.UserKeys(), stored: h.nodes.FDB.Containers()}
	for _, b := range h.db.Backups() {
		s.backups[b.Tag] = b
	}
	return s
}

func (h *backupHistory) violated(sentence, why string, args ...any) {
	h.found = append(h.found, backupViolation{sentence, fmt.Sprintf(why, args...)})
}

// witness judges a command of a pass by what was true before and after it.
func (h *backupHistory) witness(argv []string, before, after sight) {
	tag := optionOf(argv, "-t")
	was, is := before.backups[tag], after.backups[tag]
	switch command := path.Base(argv[0]) + " " + argv[1]; command {
	case "fdbbackup start":
		if was.Active {
			h.violated(neverTwice, "%s starts one on tag %s, which has one", h.turn, tag)
		}
		if is.UID != was.UID {
			h.seen.owner[is.UID] = h.turn
			h.noteWriting(is)
		}
	case "fdbbackup abort", "fdbbackup discontinue", "fdbbackup modify":
		if was.Active && h.seen.owner[was.UID] != h.turn {
			h.violated(neverIncompatiblePeers, "%s runs %s on tag %s, whose backup goes to %s", h.turn, command, tag, was.URL)
		}
		h.noteWriting(is)
	case "fdbrestore start":
		h.judgeRestore(before, after)
	}
	if after.keys < before.keys {
		h.violated(neverOverData, "%d keys before %v, %d after it", before.keys, argv, after.keys)
	}
	for _, url := range before.stored {
		if !slices.Contains(after.stored, url) {
			h.judgeDeletion(url, after)
		}
	}
}

// judgeResource makes sure that what is recorded of a backup which goes where it was last seen
// to go is so.
func (h *backupHistory) judgeResource(name string) {
	b := h.backupNamed(name)
	if b == nil || b.Status.BackupDetails == nil || !b.Status.BackupDetails.Restorable {
		return
	}
	d := b.Status.BackupDetails
	runs := h.look().backups[d.Tag]
	if runs.Active && h.seen.owner[runs.UID] == name && fdb.SameBackupURL(runs.URL, d.URL) && !runs.Restorable {
		h.violated(neverPraised, "%s reports so of %s", name, d.URL)
	}
}

func (h *backupHistory) noteWriting(b fdbsim.BackupTruth) {
	h.seen.wrote[h.turn] = append(h.seen.wrote[h.turn], fdbsim.ContainerURL(b.URL))
}

func (h *backupHistory) judgeRestore(before, after sight) {
	if !slices.ContainsFunc(after.restores, func(uid string) bool { return !slices.Contains(before.restores, uid) }) {
		return
	}
	if before.keys > 0 {
		h.violated(neverOverData, "restored over %d keys", before.keys)
	}
	r := &v1beta2.FoundationDBRestore{}
	if err := h.api.Get(h.t.Context(), named("again"), r); err != nil {
		h.t.Fatal(err)
	}
	if h.seen.restores[string(r.UID)]++; h.seen.restores[string(r.UID)] > 1 {
		h.violated(onceRestored, "the restore of record %s", r.UID)
	}
}

func (h *backupHistory) judgeDeletion(url string, after sight) {
	b := h.backupNamed(h.turn)
	requested := b != nil && b.DeletionTimestamp != nil && b.DeletionPolicy() == v1beta2.BackupDeletionPolicyCleanup
	if !requested {
		h.violated(onlyOwnData, "%s deletes %s, and no policy asks for it", h.turn, url)
	}
	if !slices.Contains(h.seen.wrote[h.turn], url) {
		h.violated(onlyOwnData, "%s deletes %s, where it never wrote", h.turn, url)
	}
	for _, other := range after.backups {
		if other.Active && fdbsim.ContainerURL(other.URL) == url {
			h.violated(onlyOwnData, "%s deletes %s, where a backup goes", h.turn, url)
		}
	}
}

// optionOf is the value of an option of a command line.
func optionOf(argv []string, name string) string {
	if i := slices.Index(argv, name); i >= 0 && i+1 < len(argv) {
		return argv[i+1]
	}
	return ""
}

// settle ends all troubles and makes sure that passes come to rest, with backups as their
// records ask.
func (h *backupHistory) settle() {
	h.heal()
	const rounds, timeout = 40, 10
	var open []string
	for i := range rounds {
		var acted int
		h.logf("## all troubles are over\n")
		acted, open = h.round()
		open = slices.DeleteFunc(open, func(why string) bool {
			return strings.HasPrefix(why, "again: ") && strings.Contains(why, " blocked ") || strings.Contains(why, "even if the database reports it restorable") // for days
		})
		if acted == 0 && len(open) == 0 {
			h.judgeRest()
			return
		}
		if i == timeout {
			h.keepData()
		}
		h.elapse(30 * time.Second)
	}
	h.violated(comesToRest, "after %d passes: %s", rounds, strings.Join(open, "; "))
}

// heal is what users do in the end: nothing fails any more, and no two want the opposite.
func (h *backupHistory) heal() {
	h.killAt, h.failing, h.unheard, h.deaf = 0, 0, 0, 0
	for _, b := range h.db.Backups() {
		if b.Active && h.seen.owner[b.UID] == "" {
			h.byHand("fdbbackup", "abort", "-t", b.Tag)
		}
	}
	taken := map[v1beta2.BackupTag]bool{}
	for _, name := range backupNames {
		tag := h.tagFor(name, taken)
		taken[tag] = true
		h.edit(name, func(b *v1beta2.FoundationDBBackupSpec) {
			b.Tag, b.AgentCount = &tag, new(1)
			if b.BackupState == v1beta2.BackupStatePaused {
				b.BackupState = v1beta2.BackupStateRunning
			}
		})
	}
	for _, name := range backupNames {
		h.endUnwanted(name)
	}
	h.byHand("fdbbackup", "resume")
}

// endUnwanted does what a pass asks a user for: a backup on the tag of a resource that the
// record cannot know for its own is ended.
func (h *backupHistory) endUnwanted(name string) {
	b := h.backupNamed(name)
	if b == nil {
		return
	}
	runs := h.look().backups[string(b.Tag())]
	named, err := objects.BackupURL(b)
	known := err == nil && fdb.SameBackupURL(named, runs.URL)
	if seen := b.Status.BackupDetails; seen != nil {
		known = known || fdb.SameBackupURL(seen.URL, runs.URL)
	}
	if runs.Active && (!known || h.seen.owner[runs.UID] != name) {
		h.byHand("fdbbackup", "abort", "-t", runs.Tag)
	}
}

// tagFor is the tag that a resource was seen to run on, or a free one. A record that is gone, or
// whose tag another one has, is recreated.
func (h *backupHistory) tagFor(name string, taken map[v1beta2.BackupTag]bool) v1beta2.BackupTag {
	b := h.backupNamed(name)
	if b != nil && b.Status.BackupDetails != nil && b.Status.BackupDetails.Tag != "" {
		if tag := v1beta2.BackupTag(b.Status.BackupDetails.Tag); !taken[tag] {
			return tag
		}
		b.Finalizers = nil
		if err := h.api.Update(h.t.Context(), b); err != nil {
			h.t.Fatal(err)
		}
		if h.backupNamed(name) != nil {
			h.deleteOrCreate(name)
		}
		b = nil
	}
	if b == nil {
		h.deleteOrCreate(name)
	}
	for _, tag := range []v1beta2.BackupTag{v1beta2.BackupTag(tagOf(name)), "monthly"} {
		if !taken[tag] && h.seen.owner[h.look().backups[string(tag)].UID] == "" {
			return tag
		}
	}
	return v1beta2.BackupTag(name + "-again")
}

// keepData lets records go whose data may not be deleted: their place was edited.
func (h *backupHistory) keepData() {
	for _, name := range backupNames {
		if b := h.backupNamed(name); b != nil && b.DeletionTimestamp != nil {
			h.edit(name, func(b *v1beta2.FoundationDBBackupSpec) { b.DeletionPolicy = new(v1beta2.BackupDeletionPolicyStop) })
		}
	}
}

// judgeRest makes sure that a backup runs where a resource asks for one, and is its own.
func (h *backupHistory) judgeRest() {
	for _, name := range backupNames {
		b := h.backupNamed(name)
		if b == nil {
			continue
		}
		runs := h.look().backups[string(b.Tag())]
		own := runs.Active && h.seen.owner[runs.UID] == name
		if own != b.ShouldRun() {
			h.violated(comesToRest, "%s should run: %t; on its tag is %+v", name, b.ShouldRun(), runs)
		}
	}
}
