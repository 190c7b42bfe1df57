Feature: Retry
  A message that is not acknowledged in time is sent again. The pause before each further attempt doubles: attempt 1 immediately,
  attempt 2 after 1 s, attempt 3 after 2 s, attempt 4 after 4 s, each in addition to the ack timeout of the attempt before.

  @RETRY-001 @RETRY-002 @RETRY-003 @RETRY-013 @RETRY-014 @RETRY-015 @DELIVERY-055
  Scenario: The example of the specification
    Given a broker with these settings:
      | ackTimeout | 2 s |
      | retryDelay | 1 s |
    And queue "orders" exists with options:
      | maxRetryAttempts | 4 |
    And the subscriber subscribes to queue "orders"
    When the publisher publishes message "m1" to queue "orders"
    Then the subscriber receives message "m1" immediately
    And the subscriber receives message "m1" again 1 s after the ack timeout, with header "deliveryAttempts" "2"
    And the subscriber receives message "m1" again 2 s after the ack timeout, with header "deliveryAttempts" "3"
    And the subscriber receives message "m1" again 4 s after the ack timeout, with header "deliveryAttempts" "4"

  @RETRY-004 @RETRY-006
  Scenario: The pause does not exceed its limit
    Given a broker with these settings:
      | ackTimeout    | 1 s |
      | retryDelay    | 1 s |
      | maxRetryDelay | 2 s |
    And queue "orders" exists with options:
      | maxRetryAttempts | 5 |
    And the subscriber subscribes to queue "orders"
    When the publisher publishes message "m1" to queue "orders"
    Then the subscriber receives message "m1" immediately
    And the subscriber receives message "m1" again 1 s after the ack timeout
    And the subscriber receives message "m1" again 2 s after the ack timeout
    And the subscriber receives message "m1" again 2 s after the ack timeout
    And the subscriber receives message "m1" again 2 s after the ack timeout

  @RETRY-007 @RETRY-009 @RETRY-010
  Scenario: After the last failed attempt the message is discarded
    Given a broker with these settings:
      | ackTimeout | 2 s |
      | retryDelay | 1 s |
    And queue "orders" exists with options:
      | maxRetryAttempts | 2 |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    And the numbers of "/metrics/" are noted
    Then the subscriber receives message "m1" again 1 s after the ack timeout
    When 10 s pass
    Then the subscriber receives no further message
    And queue "orders" has 0 waiting messages
    And these numbers of "/metrics/" have changed by:
      | total_messages_delivered | 1  |
      | total_retries            | 1  |
      | total_errors             | 1  |
      | total_dead_lettered      | 0  |
      | in_flight_messages       | -1 |

  @RETRY-001
  Scenario: After an ack in time the message is not sent again
    Given a broker with these settings:
      | ackTimeout | 5 s |
      | retryDelay | 1 s |
    And the subscriber subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And the subscriber receives message "m1"
    When the subscriber acknowledges message "m1"
    And 8 s pass
    Then the subscriber receives no further message

  @DELIVERY-007 @DELIVERY-004
  Scenario: An ack during the pause settles the message
    Given a broker with these settings:
      | ackTimeout | 1 s  |
      | retryDelay | 60 s |
    And the subscriber subscribes to queue "orders" for at most 1 message at a time
    And the publisher publishes messages "m1, m2" to queue "orders"
    And the subscriber receives message "m1"
    When 3 s pass
    Then the subscriber receives no further message
    When the subscriber acknowledges message "m1"
    Then the subscriber receives message "m2"

  @DELIVERY-009
  Scenario: An attempt that is due is made before younger messages are sent
    Given a broker with these settings:
      | ackTimeout | 2 s |
    And subscriber A subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And subscriber A receives message "m1"
    When subscriber A unsubscribes from queue "orders"
    And the publisher publishes message "m2" to queue "orders"
    And 4 s pass
    And subscriber B subscribes to queue "orders"
    Then subscriber B receives messages "m1, m2"

  @RETRY-011
  Scenario: A retry goes to another subscriber
    Given a broker with these settings:
      | ackTimeout | 5 s |
      | retryDelay | 1 s |
    And subscriber A subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And subscriber A receives message "m1"
    And subscriber B subscribes to queue "orders"
    Then subscriber B receives message "m1" 6 s after subscriber A
    And subscriber A receives no further message

  @DELIVERY-060
  Scenario: The ack of the earlier receiver is ignored
    Given a broker with these settings:
      | ackTimeout | 5 s |
      | retryDelay | 1 s |
    And subscriber A subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And subscriber A receives message "m1"
    And subscriber B subscribes to queue "orders"
    And subscriber B receives message "m1" 6 s after subscriber A
    When subscriber A acknowledges message "m1"
    And subscriber A unsubscribes from queue "orders"
    And subscriber B disconnects
    Then queue "orders" has 1 waiting message

  @DELIVERY-007
  Scenario: The ack of the earlier receiver settles the message before it is sent to another subscriber
    Given a broker with these settings:
      | ackTimeout | 2 s  |
      | retryDelay | 10 s |
    And subscriber A subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And subscriber A receives message "m1"
    And subscriber B subscribes to queue "orders"
    When 3 s pass
    And subscriber A acknowledges message "m1"
    And 10 s pass
    Then subscriber B receives no message

  @DELIVERY-062
  Scenario: Messages in flight at an Unsubscribe wait for other subscribers after the ack timeout
    Given a broker with these settings:
      | ackTimeout | 2 s |
    And subscriber A subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders"
    And subscriber A receives message "m1"
    When subscriber A unsubscribes from queue "orders"
    And subscriber B subscribes to queue "orders"
    Then subscriber B receives message "m1" 2 s after subscriber A
    And subscriber A receives no further message

  @DELIVERY-041
  Scenario: A message whose delivery is interrupted repeatedly is offered after increasing pauses
    Given a broker with these settings:
      | retryDelay | 5 s |
    And the publisher publishes message "m1" to queue "orders"
    And subscriber A subscribes to queue "orders"
    And subscriber A receives message "m1"
    And subscriber A disconnects
    And subscriber B subscribes to queue "orders"
    And subscriber B receives message "m1"
    When subscriber B disconnects
    And subscriber C subscribes to queue "orders"
    Then queue "orders" has 1 waiting message
    And subscriber C receives no message
    When 10 s pass
    Then subscriber C receives message "m1"
