Feature: Negative acknowledgment
  A subscriber whose handler failed sends a negative acknowledgment, so that the broker does not wait for the ack timeout.

  @NACK-001 @NACK-003
  Scenario: After HandlerException the pause begins immediately
    Given a broker with these settings:
      | ackTimeout | 600 s |
      | retryDelay | 2 s   |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When the subscriber refuses message "m1" with reason HandlerException
    Then the subscriber receives message "m1" again after 2 s
    When the subscriber refuses message "m1" with reason HandlerException
    Then the subscriber receives message "m1" again after 4 s

  @NACK-004
  Scenario: An unknown reason is treated as HandlerException
    Given a broker with these settings:
      | ackTimeout | 600 s |
      | retryDelay | 2 s   |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When the subscriber refuses message "m1" with reason Headache
    Then the subscriber receives message "m1" again after 2 s

  @NACK-005 @DLQ-013
  Scenario: After DeserializationError the message is dead-lettered immediately
    Given queue "orders" exists with options:
      | enableDeadLetterQueue | true |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When the subscriber refuses message "m1" with reason DeserializationError
    Then queue "orders.dlq" has 1 waiting message
    When another client subscribes to queue "orders.dlq"
    Then another client receives message "m1" with these headers among others:
      | deadLetterReason   | DeserializationError |
      | deadLetterAttempts | 1                    |

  @NACK-006
  Scenario: After a refusal of the last attempt the message is dead-lettered immediately
    Given a broker with these settings:
      | ackTimeout | 2 s |
      | retryDelay | 1 s |
    And queue "orders" exists with options:
      | enableDeadLetterQueue | true |
      | maxRetryAttempts      | 2    |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    And the subscriber receives message "m1" again 1 s after the ack timeout
    When the subscriber refuses message "m1" with reason HandlerException
    Then queue "orders.dlq" has 1 waiting message
    When another client subscribes to queue "orders.dlq"
    Then another client receives message "m1" with these headers among others:
      | deadLetterReason   | HandlerException |
      | deadLetterAttempts | 2                |

  @NACK-007
  Scenario: The reason of a dead letter is that of its last failure
    Given a broker with these settings:
      | retryDelay | 1 s |
    And queue "orders" exists with options:
      | enableDeadLetterQueue | true |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When the subscriber refuses message "m1" with reason HandlerException
    Then the subscriber receives message "m1" again after 1 s
    When the subscriber refuses message "m1" with reason DeserializationError
    And another client subscribes to queue "orders.dlq"
    Then another client receives message "m1" with these headers among others:
      | deadLetterReason   | DeserializationError |
      | deadLetterAttempts | 2                    |

  @NACK-010 @DELIVERY-058
  Scenario: A refusal of an unknown message is ignored
    Given the subscriber subscribes to queue "orders"
    When the subscriber refuses message "never seen" with reason HandlerException
    Then the subscriber receives no message
    And the connection of the subscriber stays open

  @NACK-008
  Scenario: In FanOutWithAck a refusal fails one copy only
    Given a broker with these settings:
      | ackTimeout | 600 s |
      | retryDelay | 2 s   |
    And queue "news" exists with options:
      | mode | FanOutWithAck |
    And subscriber A subscribes to queue "news"
    And subscriber B subscribes to queue "news"
    And the publisher publishes message "m1" to queue "news"
    And subscriber A receives message "m1"
    And subscriber B receives message "m1"
    When subscriber A refuses message "m1" with reason HandlerException
    Then subscriber A receives message "m1" again after 2 s
    And subscriber B receives no further message

  @DELIVERY-008
  Scenario: A refusal during the pause is handled
    Given a broker with these settings:
      | ackTimeout | 1 s  |
      | retryDelay | 60 s |
    And queue "orders" exists with options:
      | enableDeadLetterQueue | true |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When 3 s pass
    And the subscriber refuses message "m1" with reason DeserializationError
    Then queue "orders.dlq" has 1 waiting message
