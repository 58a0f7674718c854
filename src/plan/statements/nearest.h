// ORDER BY v ANN OF x: rows by the similarity of their vectors to x, most similar first.
#pragma once

#include <memory>

#include "plan/terms/similarity.h"
#include "plan/terms/term.h"

namespace sibyl::plan {

struct Select;

struct Nearest {
  const schema::Column* column = nullptr;  // column and index belong to the statement's table
  const schema::Index* index = nullptr;
  Similarity similarity = Similarity::cosine;
  TermPtr vector;
  int input = 0;  // the column's position among the selection's inputs

  static constexpr int max_limit = 1000;
};

// Returns nullptr if the statement has no ANN OF.
base::Result<std::unique_ptr<Nearest>> bind_nearest(Binder& binder, const schema::Table& table,
                                                    const cql::Select& select);
// Refuses relations on columns with a vector index: such an index only serves ANN OF.
base::Status check_vector_relations(const schema::Table& table, const cql::Select& select, bool is_nearest);
// Refuses clauses that cannot be combined with ANN OF. REQUIRES: plan.nearest is set; restrictions (as with
// ALLOW FILTERING) and selection are bound.
base::Status check_nearest(const Select& plan, const cql::Select& select);

}  // namespace sibyl::plan
