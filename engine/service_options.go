package engine

import "maps"

// ServiceOptions are the members that a script may pass to each service.
func ServiceOptions() map[string][]string {
	out := map[string][]string{"services.http.request": namesOf(new(httpInput).options()), "services.db": databaseOptions}
	for operation, names := range maps.All(statementOptions) {
		out["services.db."+operation] = names
	}
	return out
}
