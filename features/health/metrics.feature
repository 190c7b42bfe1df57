Feature: Metrics
  Counters and gauges over HTTP. Counters never decrease. The scenarios compare readings before and after a few commands.

  @METRICS-001 @METRICS-002 @METRICS-003 @METRICS-004 @METRICS-005 @METRICS-006 @METRICS-022
  Scenario: The complete record
    When an HTTP client requests "/metrics/"
    Then the HTTP status is 200
    And the JSON of the answer has:
      | total_messages_published    | integer   |
      | total_messages_delivered    | integer   |
      | total_messages_acknowledged | integer   |
      | total_retries               | integer   |
      | total_dead_lettered         | integer   |
      | total_errors                | integer   |
      | total_connections_accepted  | integer   |
      | total_connections_rejected  | integer   |
      | active_connections          | integer   |
      | active_queues               | integer   |
      | in_flight_messages          | integer   |
      | memory_usage_bytes          | integer   |
      | average_delivery_latency_ms | number    |
      | timestamp                   | timestamp |
      | uptime                      | time span |

  @METRICS-020
  Scenario: The last slash is optional
    When an HTTP client requests "/metrics"
    Then the HTTP status is 200
    And the JSON of the answer has:
      | active_queues | integer |

  @METRICS-008 @METRICS-009 @METRICS-010 @METRICS-014
  Scenario: A message from publisher to subscriber
    Given the numbers of "/metrics/" are noted
    When the publisher publishes messages "m1 to m5" to queue "orders"
    Then these numbers of "/metrics/" have changed by:
      | total_messages_published    | 5 |
      | total_messages_delivered    | 0 |
      | in_flight_messages          | 0 |
    When the subscriber subscribes to queue "orders" for at most 3 messages at a time
    Then these numbers of "/metrics/" have changed by:
      | total_messages_published    | 5 |
      | total_messages_delivered    | 3 |
      | total_messages_acknowledged | 0 |
      | in_flight_messages          | 3 |
    When the subscriber acknowledges messages "m1, m2"
    Then these numbers of "/metrics/" have changed by:
      | total_messages_published    | 5 |
      | total_messages_delivered    | 5 |
      | total_messages_acknowledged | 2 |
      | in_flight_messages          | 3 |
      | total_retries               | 0 |
      | total_errors                | 0 |

  @METRICS-008 @PUBLISH-009
  Scenario: Repeats and refused messages are not counted as published
    Given the numbers of "/metrics/" are noted
    When the publisher publishes messages "m1, m1" to queue "orders"
    And the publisher publishes message "m2" to queue "orders" with payload "no JSON"
    Then message "m2" of the publisher is refused with INVALID_PAYLOAD
    And these numbers of "/metrics/" have changed by:
      | total_messages_published | 1 |
      | total_errors             | 1 |

  @METRICS-010 @DELIVERY-059 @DELIVERY-058
  Scenario: Acks that settle no delivery are not counted
    Given the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the numbers of "/metrics/" are noted
    When the subscriber acknowledges messages "m1, m1, never seen"
    Then these numbers of "/metrics/" have changed by:
      | total_messages_acknowledged | 1  |
      | in_flight_messages          | -1 |

  @METRICS-013
  Scenario: Errors are counted
    Given the client is connected
    And the numbers of "/metrics/" are noted
    When the client sends the command number 98 with id "what?"
    And the client sends a Publish with id "where?"
    Then the client receives Error UNKNOWN_COMMAND with id "what?"
    And the client receives Error INVALID_QUEUE with id "where?"
    And these numbers of "/metrics/" have changed by:
      | total_errors | 2 |

  @METRICS-013 @OVERFLOW-006
  Scenario: Evicted messages are counted as errors
    Given queue "orders" exists with options:
      | maxQueueSize | 2 |
    And the numbers of "/metrics/" are noted
    When the publisher publishes messages "m1 to m5" to queue "orders"
    Then these numbers of "/metrics/" have changed by:
      | total_messages_published | 5 |
      | total_errors             | 3 |

  @METRICS-011
  Scenario: A message that is sent again is counted as a retry
    Given subscriber A subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the numbers of "/metrics/" are noted
    When subscriber A disconnects
    And subscriber B subscribes to queue "orders"
    Then subscriber B receives message "m1"
    And these numbers of "/metrics/" have changed by:
      | total_messages_delivered | 1 |
      | total_retries            | 1 |
      | in_flight_messages       | 0 |

  @METRICS-012
  Scenario: Messages that move to a dead letter queue are counted
    Given queue "orders" exists with options:
      | enableDeadLetterQueue | true |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes messages "m1, m2" to queue "orders"
    And the numbers of "/metrics/" are noted
    When the subscriber refuses messages "m1, m2" with reason DeserializationError
    Then these numbers of "/metrics/" have changed by:
      | total_dead_lettered         | 2  |
      | total_messages_acknowledged | 0  |
      | in_flight_messages          | -2 |

  @METRICS-016 @METRICS-018
  Scenario: Accepted and open connections are counted
    Given the numbers of "/metrics/" are noted
    When client A has opened a connection
    And client B has opened a connection
    And client B disconnects
    Then these numbers of "/metrics/" have changed by:
      | total_connections_accepted | 2 |
      | active_connections         | 1 |

  @METRICS-019 @METRICS-018 @LIMIT-012
  Scenario: A connection over the limit is rejected and counted
    Given a broker with these settings:
      | maxConnections | 2 |
    And client A is connected
    And client B is connected
    And the numbers of "/metrics/" are noted
    When client C has opened a connection
    Then client C receives Error CONNECTION_LIMIT with a new id
    And the broker closes the connection of client C
    And these numbers of "/metrics/" have changed by:
      | total_connections_rejected | 1 |
      | total_connections_accepted | 0 |
      | active_connections         | 0 |

  @METRICS-019 @LIMIT-009
  Scenario: A connection over the rate of its address is rejected and counted
    Given a broker with these settings:
      | rateLimit                    | on |
      | maxConnectionsPerIpPerWindow | 2  |
    And client A is connected
    And client B is connected
    And the numbers of "/metrics/" are noted
    When client C has opened a connection
    Then the broker closes the connection of client C
    And client C has received nothing
    And these numbers of "/metrics/" have changed by:
      | total_connections_rejected | 1 |

  @METRICS-017
  Scenario: Queues are counted as long as they exist
    Given the client is connected
    And the numbers of "/metrics/" are noted
    When the client creates queue "orders"
    And the client creates queue "payments"
    And the client deletes queue "orders"
    Then these numbers of "/metrics/" have changed by:
      | active_queues | 1 |

  @METRICS-007
  Scenario: Counters do not decrease when queues and connections end
    Given the subscriber subscribes to queue "orders"
    And the publisher publishes messages "m1 to m3" to queue "orders"
    And the subscriber acknowledges message "m1"
    And the numbers of "/metrics/" are noted
    When the publisher deletes queue "orders"
    And the subscriber disconnects
    Then these numbers of "/metrics/" have changed by:
      | total_messages_published    | 0 |
      | total_messages_delivered    | 0 |
      | total_messages_acknowledged | 0 |
      | total_retries               | 0 |
      | total_dead_lettered         | 0 |
      | total_errors                | 0 |
      | total_connections_accepted  | 0 |
      | total_connections_rejected  | 0 |

  @METRICS-015
  Scenario: Latency is the time from acceptance to the first delivery
    Given a broker that no other scenario uses
    And the publisher publishes message "m1" to queue "orders"
    When 2 s pass
    And the subscriber subscribes to queue "orders"
    Then the subscriber receives message "m1"
    And the average delivery latency is about 2 s
