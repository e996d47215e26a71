package demand

// Validation is what the index says about one sub-query (eq. 7).
type Validation struct {
	Overlap float64 `json:"overlap"` // |R_j ∩ C_K| / |R_j|, in [0, 1]
	Novelty float64 `json:"novelty"` // |R_j \ ∪_{l≠j} R_l| / |R_j|, in [0, 1]
	Quality float64 `json:"quality"` // Overlap · Novelty
}

// ReverseValidate asks the index about each sub-query (eq. 7): lists holds R_j, the IDs nearest to sub-query j
// (20 in the publication), and inside tells whether an ID is one of the K candidates of the question itself.
// A list shorter than asked is divided by its own length; an empty one validates to zero.
func ReverseValidate[ID comparable](lists [][]ID, inside func(ID) bool) []Validation {
	owners := make(map[ID]int) // in how many lists an ID occurs
	for _, list := range lists {
		for id := range unique(list) {
			owners[id]++
		}
	}
	result := make([]Validation, len(lists))
	for j, list := range lists {
		var shared, alone int
		ids := unique(list)
		for id := range ids {
			if inside(id) {
				shared++
			}
			if owners[id] == 1 {
				alone++
			}
		}
		if size := float64(len(ids)); size > 0 {
			v := Validation{Overlap: float64(shared) / size, Novelty: float64(alone) / size}
			v.Quality = v.Overlap * v.Novelty
			result[j] = v
		}
	}
	return result
}

func unique[ID comparable](list []ID) map[ID]struct{} {
	set := make(map[ID]struct{}, len(list))
	for _, id := range list {
		set[id] = struct{}{}
	}
	return set
}
