"""What customers owe: prices, quotes, orders, payments, invoices, the ledger."""
