package filters

import (
	"fmt"

	"frontier/bench/rate"
)

// Query counts what a predicate does to one query. All counts are of documents that the caller may see.
type Query struct {
	Eligible int // documents
	Kept     int // of these, how many the predicate keeps
	Gold     int // gold documents
	KeptGold int // of these, how many the predicate keeps
}

// Judge counts for one query. gold names each gold document once or more; one outside of the corpus, which is one that the
// index does not have, is eligible to no one.
func Judge(gold []int, eligible, predicate Selection) (Query, error) {
	kept, err := eligible.shared(predicate)
	if err != nil {
		return Query{}, err
	}
	q := Query{Eligible: eligible.Len(), Kept: kept}
	seen := make(map[int]bool, len(gold))
	for _, doc := range gold {
		if seen[doc] || !eligible.Has(doc) {
			continue
		}
		seen[doc] = true
		q.Gold++
		if predicate.Has(doc) {
			q.KeptGold++
		}
	}
	return q, nil
}

// Tally adds up queries. The zero value is ready. Its rates have a denominator of 0, and so no value, where no query has
// eligible gold.
type Tally struct {
	queries, excluded              int // with eligible gold; of these, those of which all is excluded
	eligible, kept, gold, keptGold int
}

// Add adds a query. One without eligible gold says nothing about a predicate and is not counted.
func (t *Tally) Add(q Query) error {
	if q.KeptGold < 0 || q.KeptGold > q.Gold || q.KeptGold > q.Kept || q.Kept > q.Eligible || q.Gold > q.Eligible {
		return fmt.Errorf("filter counts: %+v cannot be", q)
	}
	if q.Gold == 0 {
		return nil
	}
	t.queries++
	if q.KeptGold == 0 {
		t.excluded++
	}
	t.eligible += q.Eligible
	t.kept += q.Kept
	t.gold += q.Gold
	t.keptGold += q.KeptGold
	return nil
}

// FalseExclusion is the queries of which the predicate excludes all eligible gold, over those that have any.
func (t *Tally) FalseExclusion() rate.Rate { return rate.Rate{Hits: t.excluded, Of: t.queries} }

// PredicateRecall is the eligible gold that the predicate keeps, over all eligible gold.
func (t *Tally) PredicateRecall() rate.Rate { return rate.Rate{Hits: t.keptGold, Of: t.gold} }

// PredicatePrecision is the eligible gold that the predicate keeps, over all eligible documents that it keeps. Without a
// predicate it would be the eligible gold over all eligible documents.
func (t *Tally) PredicatePrecision() rate.Rate { return rate.Rate{Hits: t.keptGold, Of: t.kept} }

// Selectivity is the share of eligible documents that the predicate keeps.
func (t *Tally) Selectivity() rate.Rate { return rate.Rate{Hits: t.kept, Of: t.eligible} }
