// Package loss says of every piece of gold that a query did not get which stage lost it.
//
// A unit of gold that does not reach the user was lost by the first stage that it did not come through:
//
//	missing    its document is in the source and not in the index
//	filter     the filter leaves no chunk of it to be found
//	chunking   no chunk holds it by the evidence rule: under "contain" it was cut, under "overlap" left out
//	failed     the query ended in an error or in time, so that nothing is known of the stages behind
//	embedding  the scorer ranks it out: exact search over the same vectors does not have it either; of a lexical engine,
//	           which has no exact list beside its own, BM25 ranks it out
//	ann        exact search has it, the index does not
//	fusion     one of the parts of a hybrid has it, the fused list does not
//	rerank     it was among the candidates, and is not among the first k behind the reranker
//	budget     it is among the first k, and not in the context that fits
//
// Stages before the reranker have to bring a unit among its candidates, without a reranker among the first k. Where no
// part of a hybrid has a unit, the part that comes closest answers for it: the one whose exact list has it highest. So it
// is ann if the exact list of any part has it, else embedding. That a query failed explains only what was there to be
// found: the three stages before are lost whether it fails or not.
package loss

import "fmt"

// Class is what became of a unit.
type Class int

// The classes, in the order of the stages; Failed comes last in output, as in the columns of a result.
const (
	Found Class = iota
	Missing
	Filter
	Chunking
	Embedding
	ANN
	Fusion
	Rerank
	Budget
	Failed

	classes
)

// Losses are all classes but Found.
func Losses() []Class {
	return []Class{Missing, Filter, Chunking, Embedding, ANN, Fusion, Rerank, Budget, Failed}
}

// String is the name in lower case, which is that of the column without its "loss_".
func (c Class) String() string {
	switch c {
	case Found:
		return "found"
	case Missing:
		return "missing"
	case Filter:
		return "filter"
	case Chunking:
		return "chunking"
	case Embedding:
		return "embedding"
	case ANN:
		return "ann"
	case Fusion:
		return "fusion"
	case Rerank:
		return "rerank"
	case Budget:
		return "budget"
	case Failed:
		return "failed"
	}
	return fmt.Sprintf("class %d", int(c))
}

// Query is one query and its way through the stages. Ranks everywhere count what k counts, chunks or documents, from 1; 0
// says that the list does not have the unit. The rank of a unit is that of the first that holds it.
type Query struct {
	K          int // the largest k
	Candidates int // how many the reranker gets, at least K; 0 if there is none
	Failed     bool
	Units      []Unit // the relevant ones
}

// Unit is one relevant piece of gold.
type Unit struct {
	Missing  bool   // its document is not in the index
	Filtered bool   // no chunk of it passes the filter
	Holders  int    // chunks of the index that hold it by the evidence rule
	Parts    []Part // one of a single engine, two or more of a hybrid; may be empty where the query failed
	Fused    int    // rank after fusion; of a single engine it is not read
	Reranked int    // rank after the reranker, if there is one
	CutOff   bool   // it is among the first k, and not in the context that fits
}

// Part is the rank of a unit in the lists of one engine.
type Part struct {
	Exact  int // by exact search over the same vectors; of an engine that has no such list it is Listed
	Listed int // by the engine
}

// Attribute is the class of each unit, in the order of q.Units. What is among the first k at the end is Found, whatever
// else is said of it, so that the share of Found is the evidence recall at k; where CutOff is used, that of the context.
func Attribute(q Query) ([]Class, error) {
	if q.K < 1 {
		return nil, fmt.Errorf("loss attribution: k = %d; it must be at least 1", q.K)
	}
	if q.Candidates != 0 && q.Candidates < q.K {
		return nil, fmt.Errorf("loss attribution: the reranker gets %d candidates, which is less than k = %d", q.Candidates, q.K)
	}
	all := make([]Class, len(q.Units))
	for i, u := range q.Units {
		if err := u.check(q); err != nil {
			return nil, fmt.Errorf("loss attribution: unit %d: %w", i, err)
		}
		all[i] = q.class(u)
	}
	return all, nil
}

func (u Unit) check(q Query) error {
	if u.Holders < 0 || u.Fused < 0 || u.Reranked < 0 {
		return fmt.Errorf("%d holders, rank %d after fusion and %d after reranking: none can be negative", u.Holders, u.Fused, u.Reranked)
	}
	for i, p := range u.Parts {
		if p.Exact < 0 || p.Listed < 0 {
			return fmt.Errorf("part %d has it at rank %d exactly and %d listed: ranks are from 1, 0 is absent", i, p.Exact, p.Listed)
		}
	}
	if len(u.Parts) == 0 && !q.Failed {
		return fmt.Errorf("no part was asked for it, and the query did not fail")
	}
	return nil
}

func (q Query) class(u Unit) Class {
	if !q.Failed && !u.CutOff && within(q.final(u), q.K) {
		return Found
	}
	wanted := q.K
	if q.Candidates > 0 {
		wanted = q.Candidates
	}
	switch {
	case u.Missing:
		return Missing
	case u.Filtered:
		return Filter
	case u.Holders == 0:
		return Chunking
	case q.Failed:
		return Failed
	case !within(u.retrieved(), wanted):
		return u.lostInSearch(wanted)
	case q.Candidates > 0 && !within(u.Reranked, q.K):
		return Rerank
	}
	return Budget
}

// final is the rank in the list that the user gets.
func (q Query) final(u Unit) int {
	if q.Candidates > 0 {
		return u.Reranked
	}
	return u.retrieved()
}

// retrieved is the rank in the list before reranking.
func (u Unit) retrieved() int {
	if len(u.Parts) == 1 {
		return u.Parts[0].Listed
	}
	return u.Fused
}

// lostInSearch is the class of a unit that is not among the first wanted of the list before reranking.
func (u Unit) lostInSearch(wanted int) Class {
	class := Embedding
	for _, p := range u.Parts {
		switch {
		case within(p.Listed, wanted): // of a hybrid; a single engine would have it then
			return Fusion
		case within(p.Exact, wanted):
			class = ANN
		}
	}
	return class
}

func within(rank, k int) bool { return rank > 0 && rank <= k }
