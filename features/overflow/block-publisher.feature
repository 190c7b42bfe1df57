Feature: BlockPublisher
  A publish to a full queue is blocked until the queue has room. Only this message waits, and not its connection.

  @OVERFLOW-010 @OVERFLOW-011
  Scenario: A blocked publish is confirmed when the queue has room
    Given queue "orders" exists with options:
      | maxQueueSize     | 2              |
      | overflowStrategy | BlockPublisher |
    When the publisher publishes messages "m1 to m4" to queue "orders"
    Then messages "m1, m2" are confirmed to the publisher
    And messages "m3, m4" are not confirmed to the publisher
    And queue "orders" has 2 waiting messages
    When the subscriber subscribes to queue "orders" for at most 1 message at a time
    Then message "m3" is confirmed to the publisher
    And message "m4" is not confirmed to the publisher
    When the subscriber acknowledges message "m1"
    Then message "m4" is confirmed to the publisher
    And the subscriber receives messages "m1, m2"

  @OVERFLOW-012
  Scenario: No blocked message is lost
    Given queue "orders" exists with options:
      | maxQueueSize     | 1              |
      | overflowStrategy | BlockPublisher |
    And the publisher publishes messages "m1 to m20" to queue "orders"
    When the subscriber subscribes to queue "orders"
    And the subscriber acknowledges messages "m1 to m20"
    Then messages "m1 to m20" are confirmed to the publisher
    And the subscriber receives messages "m1 to m20"

  @OVERFLOW-014
  Scenario: Blocked messages of several publishers enter the queue in the order of their arrival
    Given queue "orders" exists with options:
      | maxQueueSize     | 1              |
      | overflowStrategy | BlockPublisher |
    And publisher A publishes messages "a1, a2" to queue "orders"
    And publisher B publishes message "b1" to queue "orders"
    And publisher A publishes message "a3" to queue "orders"
    When the subscriber subscribes to queue "orders"
    Then the subscriber receives messages "a1, a2, b1, a3"

  @OVERFLOW-013
  Scenario: Other connections are not affected
    Given queue "orders" exists with options:
      | maxQueueSize     | 1              |
      | overflowStrategy | BlockPublisher |
    And publisher A publishes messages "a1, a2" to queue "orders"
    When publisher B publishes message "b1" to queue "payments"
    Then message "b1" is confirmed to publisher B
    And message "a1" is confirmed to publisher A
    And message "a2" is not confirmed to publisher A

  @OVERFLOW-016 @OVERFLOW-017
  Scenario: The broker handles other commands of the same connection
    Given queue "orders" exists with options:
      | maxQueueSize     | 1              |
      | overflowStrategy | BlockPublisher |
    And the publisher publishes messages "m1, m2" to queue "orders"
    When the publisher publishes message "p1" to queue "payments"
    And the publisher sends a ListQueues with id "list"
    Then message "p1" is confirmed to the publisher
    And the publisher receives a ListQueues with id "list"
    And message "m2" is not confirmed to the publisher

  @OVERFLOW-015
  Scenario: The broker handles acks of the same connection, which make room in the queue
    Given queue "orders" exists with options:
      | maxQueueSize     | 1              |
      | overflowStrategy | BlockPublisher |
    And client A subscribes to queue "orders" for at most 1 message at a time
    And client A publishes messages "m1 to m3" to queue "orders"
    And messages "m1, m2" are confirmed to client A
    And message "m3" is not confirmed to client A
    When client A acknowledges message "m1"
    Then message "m3" is confirmed to client A
    And client A receives messages "m1, m2"

  @OVERFLOW-018
  Scenario Outline: The blocked messages of a publisher that <leaves> are dropped
    Given queue "orders" exists with options:
      | maxQueueSize     | 1              |
      | overflowStrategy | BlockPublisher |
    And publisher A publishes messages "a1, a2" to queue "orders"
    And publisher B publishes message "b1" to queue "orders"
    When <leaving>
    And the subscriber subscribes to queue "orders"
    Then the subscriber receives messages "a1, b1"
    And message "b1" is confirmed to publisher B

    Examples:
      | leaves            | leaving                               |
      | disconnects       | publisher A disconnects               |
      | loses connection  | the connection of publisher A breaks  |

  @OVERFLOW-019
  Scenario: The age of a blocked message starts when it enters the queue
    Given queue "orders" exists with a message TTL of 10 s and options:
      | maxQueueSize     | 1              |
      | overflowStrategy | BlockPublisher |
    And the publisher publishes messages "m1, m2" to queue "orders"
    When 11 s pass
    Then message "m2" is confirmed to the publisher
    And queue "orders" has 1 waiting message
    When the subscriber subscribes to queue "orders"
    Then the subscriber receives message "m2"
    And message "m1" is confirmed to the publisher

  @OVERFLOW-020
  Scenario: The number of blocked messages of a connection is limited
    Given a broker with these settings:
      | maxBlockedPublishes | 2 |
    And queue "orders" exists with options:
      | maxQueueSize     | 1              |
      | overflowStrategy | BlockPublisher |
    When the publisher publishes messages "m1 to m4" to queue "orders"
    Then message "m1" is confirmed to the publisher
    And messages "m2, m3" are not confirmed to the publisher
    And message "m4" of the publisher is refused with QUEUE_FULL

  @OVERFLOW-021
  Scenario: The bytes of blocked messages of a connection are limited
    Given a broker with these settings:
      | maxBlockedBytes | 10 KiB |
    And queue "orders" exists with options:
      | maxQueueSize     | 1              |
      | overflowStrategy | BlockPublisher |
    When the publisher publishes messages "m1 to m4" of 4 KiB each to queue "orders"
    Then message "m1" is confirmed to the publisher
    And messages "m2, m3" are not confirmed to the publisher
    And message "m4" of the publisher is refused with QUEUE_FULL
