package docs

import (
	"regexp"
	"strings"
)

// forbiddenWord is a word or phrase that the project does not use in text for readers.
type forbiddenWord struct {
	name    string
	use     string         // what replaces it
	pattern *regexp.Regexp // matched against text in lower case with single spaces
	except  *regexp.Regexp // matches of pattern that are correct; nil for none
}

// matches returns where text contains the word, each with some text around it.
func (w forbiddenWord) matches(text string) []string {
	var found []string
	for _, at := range w.pattern.FindAllStringIndex(text, -1) {
		if w.except == nil || !w.except.MatchString(strings.TrimSpace(text[at[0]:at[1]])) {
			found = append(found, strings.ToValidUTF8(text[max(0, at[0]-around):min(len(text), at[1]+around)], ""))
		}
	}
	return found
}

// around is how many bytes of text on either side of a match are shown.
const around = 50

func word(name, use, pattern string) forbiddenWord {
	return forbiddenWord{name: name, use: use, pattern: regexp.MustCompile(pattern)}
}

func wordExcept(name, use, pattern, except string) forbiddenWord {
	w := word(name, use, pattern)
	w.except = regexp.MustCompile(except)
	return w
}

// forbiddenWords have patterns that rarely match correct English. Where one does, the
// allow list keeps the count.
var forbiddenWords = []forbiddenWord{
	// Unknown values and actors.
	word("nobody", "Unknown, or the actor's name", `\bnobody\b`),
	word("somebody", "the actor's name: user, operator, run, process", `\b(some|any|every)body\b`),
	word("people", "user", `\b(people|persons?)\b`),
	word("can tell", "unknown, cannot be determined", `\b(can|cannot|could|can not) tell\b`),
	word("not known", "unknown", `\bnot known\b`),
	word("whom", "the actor's name", `\bwhom\b`),
	// Verbs of speech for data flow.
	word("told", "reported, printed, returned, logged", `\btold\b`),
	word("tells", "reports, prints, returns, describes", `\btells\b`),
	word("says", "reports, prints, returns, describes", `\bsays\b`),
	word("said", "reported, printed, logged", `\bsaid\b`),
	word("is asked", "is read, is queried; a user is prompted", `\b(is|are|was|were) asked\b`),
	word("hears", "receives, is notified", `\b(hears?|heard|hearsay)\b`),
	// State.
	word("anew", "again; recreate", `\banew\b`),
	word("as it should be", "reconciled, matches the spec", `\bas (it|they|\w+) should be\b`),
	word("spec asks", "desired, matches the spec", `\bspecs? asks?\b`),
	word("wish", "desired state, spec", `\bwish(es|ed)?\b`),
	word("is wanted", "is desired", `\b(is|are|was|were|as|the) wanted\b`),
	word("on its way out", "marked for removal, draining", `\bon (its|their) way out\b`),
	word("is gone", "is removed, not found", `\b(is|are|was|were|be) gone\b`),
	word("is to go", "is marked for removal", `\b(is|are|was|were) to (go|leave)\b`),
	word("is silent", "does not report", `\b(is|are|was|were|be|been|goes|go|went|gone|fell|falls|stays?|became) silent\b|\bsilent (process|group|pod|node|coordinator|database|server)`),
	word("how far", "exclusion progress", `\bexcluded how far\b`),
	word("calm", "stable", `\bcalm(s|ed|er|ly)?\b`),
	wordExcept("quiet", "stable", `\S*\bquiet\b`, `^-+quiet$|"quiet`),
	word("the world", "cluster state", `\b(the|a|an|whole|healthy|simulated|this) worlds?\b`),
	word("for ever", "forever", `\bfor ever\b`),
	// Actions.
	word("a look", "read, snapshot, observation", `\b(an?|one|each|every|next|last|second|another|per|fresh|new|single|previous|between) look\b|\b(two|three|many|few|of|random|between) looks\b`),
	word("by hand", "manually", `\bby hand\b`),
	word("mend", "fix", `\bmend(s|ed|ing)?\b`),
	word("meets an error", "encounters an error", `\b(meets?|met|meeting) (an?|the|no) (error|failure|fault)`),
	word("wave through", "override a gate", `\bwav(e|es|ed|ing)\b[^.]{0,40}\bthrough\b`),
	word("take back", "revert", `\b(takes?|took|taken|taking) (it |them |that |this )?back\b`),
	word("give back", "release", `\b(gives?|gave|given|giving) (it |them |that |the lock |what it locked )?back\b`),
	word("again and again", "continuously", `\bagain and again\b`),
	word("still at it", "still running", `\bstill at it\b`),
	word("has the database", "the direct verb", `\b(has|have|having|had) the database (move|wait|exclude|choose|bring|take|leave|copy|put|write|forget|keep)\b`),
	// Nouns.
	wordExcept("instance", "control-plane instance, run, process", `(\S+ )?\binstances?\b`, `^(control-plane|for) `),
	word("volume claim", "PVC", `\bvolume claims?\b`),
	word("tab key", "shell completion", `\btab key\b`),
	word("the screen", "the dashboard", `\bthe screen\b`),
	word("place of a backup", "destination", `\bplaces? of (an?|the|its|their|every|each|some) backups?\b|\bbackup's places?\b`),
	// Spelling.
	word("British spelling", "US spelling", `\b\w*(colour|behaviour|favour|honour|neighbour|labour|flavour|rumour)\w*\b|\b(data)?centred?s?\b|\b(re)?modell(ed|ing)\b|`+
		`\b\w*(analys|organis|recognis|normalis|serialis|initialis|authoris|synchronis|summaris|optimis|minimis|maximis|utilis|customis|generalis|realis|canonicalis)(e|es|ed|ing|ation|ations)\b|`+
		`\b(judgement|licence|defence|grey|whilst|amongst|learnt|spelt|cancelled|cancelling|labelled|labelling|travelled|fulfil|fulfils|catalogue)\b`),
}
