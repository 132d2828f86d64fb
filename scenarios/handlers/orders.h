// Orders: the business that consume-order and the planted mistakes about messages work on.
//
// An event tells of one order; its lines are added and what they ask for is reserved in stock.
// Nothing in the lines' table keeps an order from being added twice: that is the inbox's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "checkers/expectations.h"
#include "jobs/ports/broker.h"
#include "jobs/transaction.h"
#include "scenarios/handler.h"

namespace fencepost::scenarios::orders {

// Tables order_line and stock, and the stock of two items.
std::string schema();

// "acme order-1 bolt 3 nut 2": tenant, order, and each item with its quantity.
std::string body_of(const DueWork& work);
// Each order has one line for each of its items.
checkers::EffectTable expected_lines(const std::vector<DueWork>& due);

// Adds the lines of the order that the message tells of and reserves its stock. Throws
// std::invalid_argument when the body is not an order.
void add_order(jobs::sql::Transaction& transaction, const jobs::broker::Message& message);

}  // namespace fencepost::scenarios::orders
