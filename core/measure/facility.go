package measure

// FacilityObjective returns F_P(S) = Σ_i P_i·max(0, max_{s∈S} cos(c_i, s)), in [0, 1]: how well the chosen passages
// serve the demand. demand is P over n candidates, summing to 1; cosines is the n×k matrix of candidates and chosen
// passages.
func FacilityObjective(demand []float64, cosines [][]float64) float64 {
	total := 0.0
	for i, mass := range demand {
		served := 0.0
		for _, c := range cosines[i] {
			served = max(served, c)
		}
		total += mass * served
	}
	return total
}
