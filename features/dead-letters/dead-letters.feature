Feature: Dead letters
  A message that cannot be handled moves to the dead letter queue of its queue, if that is enabled. Its headers contain the reason.

  @RETRY-008 @DLQ-001 @DLQ-003 @DLQ-018 @DLQ-019
  Scenario: After its last failed attempt a message is dead-lettered
    Given a broker with these settings:
      | ackTimeout | 2 s |
      | retryDelay | 1 s |
    And queue "orders" exists with options:
      | enableDeadLetterQueue | true |
      | maxRetryAttempts      | 2    |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    And the subscriber receives message "m1" again after 3 s
    And another client subscribes to queue "orders.dlq"
    Then another client receives message "m1" 2 s after the subscriber, with header "deadLetterReason" "MaxRetriesExceeded"
    And queue "orders" has 0 waiting messages
    And the subscriber receives no further message

  @DLQ-012 @DLQ-013 @DLQ-014 @DLQ-015 @DLQ-016
  Scenario: A dead letter contains its source, its reason and the number of its attempts
    Given queue "orders" exists with options:
      | enableDeadLetterQueue | true |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders" with headers:
      | correlationId | 4711 |
    And the subscriber receives message "m1"
    When the subscriber refuses message "m1" with reason DeserializationError
    And another client subscribes to queue "orders.dlq"
    Then another client receives message "m1" with these headers among others:
      | correlationId      | 4711                 |
      | deadLetterReason   | DeserializationError |
      | deadLetterSource   | queue "orders"       |
      | deadLetterAttempts | 1                    |
      | deadLetteredAt     | a timestamp          |

  @DLQ-012 @DELIVERY-054
  Scenario: A dead letter keeps its payload
    Given queue "orders" exists with options:
      | enableDeadLetterQueue | true |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders" with payload '{ "amount" : 12.50 }'
    And the subscriber receives message "m1"
    When the subscriber refuses message "m1" with reason DeserializationError
    And another client subscribes to queue "orders.dlq"
    Then another client receives message "m1" with payload '{ "amount" : 12.50 }'

  @DLQ-002
  Scenario: deadLetterQueueName sets the name of the dead letter queue
    Given queue "orders" exists with options:
      | enableDeadLetterQueue | true        |
      | deadLetterQueueName   | lost-orders |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    When the subscriber refuses message "m1" with reason DeserializationError
    Then queue "lost-orders" has 1 waiting message

  @DLQ-004 @DLQ-006
  Scenario: A dead letter queue is created together with its source queue
    Given a broker with these settings:
      | enableAutoCreate | false |
    When the client creates queue "orders" with options:
      | mode                  | FanOutWithAck |
      | maxQueueSize          | 5             |
      | messageTtl            | 00:30:00      |
      | enableDeadLetterQueue | true          |
      | overflowStrategy      | DropNewest    |
    Then queue "orders.dlq" has these properties:
      | deliveryMode          | 0      |
      | maxSize               | 5      |
      | messageTtl            | absent |
      | enableDeadLetterQueue | false  |
      | overflowStrategy      | 0      |

  @DLQ-005
  Scenario: A deleted dead letter queue is created again for the next dead letter
    Given queue "orders" exists with options:
      | enableDeadLetterQueue | true |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    When the client deletes queue "orders.dlq"
    And the subscriber refuses message "m1" with reason DeserializationError
    Then queue "orders.dlq" has 1 waiting message

  @DLQ-007
  Scenario: An existing queue with the name of the dead letter queue is used unchanged
    Given queue "lost" exists with options:
      | mode         | PriorityBased |
      | maxQueueSize | 7             |
    And queue "orders" exists with options:
      | enableDeadLetterQueue | true |
      | deadLetterQueueName   | lost |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    When the subscriber refuses message "m1" with reason DeserializationError
    Then queue "lost" has these properties:
      | deliveryMode | 3 |
      | maxSize      | 7 |
      | messageCount | 1 |

  @DLQ-008 @DLQ-009
  Scenario: A dead letter enters a full dead letter queue
    Given queue "lost" exists with options:
      | maxQueueSize     | 1          |
      | overflowStrategy | DropNewest |
    And queue "orders" exists with options:
      | enableDeadLetterQueue | true |
      | deadLetterQueueName   | lost |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes messages "m1, m2" to queue "orders"
    And the numbers of "/metrics/" are noted
    When the subscriber refuses messages "m1, m2" with reason DeserializationError
    Then these numbers of "/metrics/" have changed by:
      | total_dead_lettered | 2 |
      | total_errors        | 1 |
    When another client subscribes to queue "lost"
    Then another client receives message "m2"
    And another client receives no further message

  @DLQ-010
  Scenario: A dead letter that fails again is discarded
    Given queue "lost" exists with options:
      | enableDeadLetterQueue | true |
    And queue "orders" exists with options:
      | enableDeadLetterQueue | true |
      | deadLetterQueueName   | lost |
    And subscriber A subscribes to queue "orders"
    And subscriber B subscribes to queue "lost"
    And the publisher publishes message "m1" to queue "orders"
    When subscriber A refuses message "m1" with reason DeserializationError
    And subscriber B refuses message "m1" with reason DeserializationError
    Then queue "lost.dlq" has 0 waiting messages
    And queue "lost" has 0 waiting messages

  @DLQ-011
  Scenario: A message that was published with the headers of a dead letter is dead-lettered like any other
    Given queue "orders" exists with options:
      | enableDeadLetterQueue | true |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders" with headers:
      | deadLetterReason   | MaxRetriesExceeded |
      | deadLetterSource   | payments           |
      | deadLetterAttempts | 3                  |
    When the subscriber refuses message "m1" with reason DeserializationError
    And another client subscribes to queue "orders.dlq"
    Then another client receives message "m1" with these headers among others:
      | deadLetterReason   | DeserializationError |
      | deadLetterSource   | queue "orders"       |
      | deadLetterAttempts | 1                    |

  @DLQ-017 @DELIVERY-020
  Scenario: However many subscribers failed it, a message is dead-lettered once
    Given queue "news" exists with options:
      | mode                  | FanOutWithAck |
      | enableDeadLetterQueue | true          |
      | maxRetryAttempts      | 1             |
    And subscriber A subscribes to queue "news"
    And subscriber B subscribes to queue "news"
    And subscriber C subscribes to queue "news"
    And the publisher publishes message "m1" to queue "news"
    And the numbers of "/metrics/" are noted
    When subscriber A refuses message "m1" with reason HandlerException
    And subscriber B acknowledges message "m1"
    Then queue "news.dlq" has 0 waiting messages
    When subscriber C refuses message "m1" with reason DeserializationError
    Then queue "news.dlq" has 1 waiting message
    And these numbers of "/metrics/" have changed by:
      | total_dead_lettered | 1 |
    When another client subscribes to queue "news.dlq"
    Then another client receives message "m1" with these headers among others:
      | deadLetterReason | HandlerException |

  @DLQ-020
  Scenario: Without a dead letter queue nothing is dead-lettered
    Given queue "orders" exists
    And the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the numbers of "/metrics/" are noted
    When the subscriber refuses message "m1" with reason DeserializationError
    Then queue "orders.dlq" does not exist
    And these numbers of "/metrics/" have changed by:
      | total_dead_lettered | 0 |
      | total_errors        | 1 |

  @PUBLISH-012
  Scenario: The id of a dead letter can be used again
    Given queue "orders" exists with options:
      | enableDeadLetterQueue | true |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    And the subscriber refuses message "m1" with reason DeserializationError
    When the publisher publishes message "m1" to queue "orders"
    Then messages "m1, m1" are confirmed to the publisher
    And the subscriber receives message "m1"
