package commands

// What tests over all commands use beside the commands themselves.
var (
	CommandsOfDumps = commandsOfDumps
	PointToRights   = pointToRights
	PrintError      = printError
	ReadFromDump    = readFromDump
	ReadsDumps      = readsDumps
)

// OtherName is a name that a command has elsewhere.
type OtherName struct{ Words, Means, Use string }

// OtherNames returns all of them.
func OtherNames() []OtherName {
	var all []OtherName
	for _, o := range otherNames() {
		all = append(all, OtherName{o.words, o.means, o.use})
	}
	return all
}
