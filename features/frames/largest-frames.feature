Feature: Size of frames that the broker sends
  A broker never sends a frame that is too large for a client. If necessary it omits the headers that it would add.

  @FRAME-022 @FRAME-018
  Scenario: A header that would not fit is omitted
    Given subscriber A subscribes to queue "orders"
    And the publisher publishes message "m1" in a body of exactly 1048576 bytes to queue "orders"
    And subscriber A receives message "m1"
    When subscriber A disconnects
    And subscriber B subscribes to queue "orders"
    Then subscriber B receives message "m1" without header "deliveryAttempts"

  @FRAME-023
  Scenario: Headers that the broker adds do not count towards the limit of 50
    Given subscriber A subscribes to queue "orders"
    And the publisher publishes message "m1" with 50 headers to queue "orders"
    And subscriber A receives message "m1"
    When subscriber A disconnects
    And subscriber B subscribes to queue "orders"
    Then subscriber B receives message "m1" again, with header "deliveryAttempts" "2"

  @FRAME-024
  Scenario: A header that the broker adds replaces one of the same name
    Given subscriber A subscribes to queue "orders"
    And the publisher publishes message "m1" to queue "orders" with headers:
      | deliveryAttempts | 77 |
    And subscriber A receives message "m1"
    When subscriber A disconnects
    And subscriber B subscribes to queue "orders"
    Then subscriber B receives message "m1" with exactly these headers:
      | deliveryAttempts | 2 |

  @FRAME-021
  Scenario: A message that would not fit with the name of the dead letter queue is refused
    Given queue "orders" exists with options:
      | enableDeadLetterQueue | true |
    When the publisher publishes message "m1" in a body of exactly 1048576 bytes to queue "orders"
    And the publisher publishes message "m2" in a body of exactly 1048572 bytes to queue "orders"
    Then message "m1" of the publisher is refused with MESSAGE_TOO_LARGE
    And message "m2" is confirmed to the publisher

  @FRAME-025
  Scenario: An Error replaces an answer that does not fit
    Given a broker with these settings:
      | maxMessageSize | 256 bytes |
    And queue "a-queue-with-a-rather-long-name-number-one-of-four" exists
    And queue "a-queue-with-a-rather-long-name-number-two-of-four" exists
    And queue "a-queue-with-a-rather-long-name-number-three-of-four" exists
    And queue "a-queue-with-a-rather-long-name-number-four-of-four" exists
    And queue "a-queue-with-a-rather-long-name-beyond-what-was-said" exists
    When the client sends a ListQueues with id "list"
    Then the client receives Error MESSAGE_TOO_LARGE with id "list"
    And the connection of the client stays open
