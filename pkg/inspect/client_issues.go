package inspect

import (
	"fmt"

	"github.com/kubectl-fdb/kubectl-fdb/pkg/phrase"
)

// clientWarnings are the issues of clients. They do not degrade the database.
func (v DatabaseView) clientWarnings() []string {
	var all []string
	for _, issue := range v.ClientIssues {
		all = append(all, fmt.Sprintf("clients have issues: %s; FoundationDB reports them until 10 minutes after a client ended", issue))
	}
	return all
}

// ClientIssueView is a problem that clients report about themselves: a database with any does not call itself
// healthy.
type ClientIssueView struct {
	// Name is FoundationDB's, such as incorrect_cluster_file_contents.
	Name    string `json:"name"`
	Clients int    `json:"clients"`
	// Addresses are those of some of the clients.
	Addresses []string `json:"addresses,omitempty"`
}

func (v ClientIssueView) String() string {
	if len(v.Addresses) == 0 {
		return fmt.Sprintf("%s of %s", v.Name, phrase.Count(v.Clients, "client"))
	}
	return fmt.Sprintf("%s of %s at %s", v.Name, phrase.Count(v.Clients, "client"), phrase.Some(v.Addresses, MostNamed))
}
