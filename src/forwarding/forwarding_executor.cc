#include "forwarding/forwarding_executor.h"

#include <memory>

namespace sibyl::forwarding {

using execute::Completion;
using execute::Request;

void ForwardingExecutor::execute_as(const auth::Login* login, plan::PreparedPtr plan, const Request& request,
                                    Completion done) {
  std::make_shared<ForwardedStatement>(of_, login, std::move(plan), request, std::move(done))->run();
}

void ForwardingExecutor::execute_relayed(const base::Bytes&, const auth::Login* login, plan::PreparedPtr plan,
                                         const Request& request, Completion done) {
  execute_as(login, std::move(plan), request, std::move(done));
}

void ForwardingExecutor::execute_batch_as(const auth::Login* login, cql::Batch::Kind kind,
                                          std::vector<execute::BatchItem> items, const Request& request,
                                          Completion done) {
  std::make_shared<ForwardedStatement>(of_, login, kind, std::move(items), request, std::move(done))->run();
}

}  // namespace sibyl::forwarding
